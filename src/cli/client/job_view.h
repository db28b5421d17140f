#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/client/session.h"
#include "manage/documents/jobs.h"

namespace redrive::cli {

// "running", coloured if supported.
std::string job_status(const Terminal& terminal, const documents::Job& job);

// A job for display, several lines.
std::string readable_job(const Terminal& terminal, const documents::Job& job);

struct FollowOptions {
  // Also wait until the outcome of every moved message is known. The exit code is then 0 if all
  // were processed, 1 if some failed again or are gone, 3 if some are still open.
  bool settled = false;
  Duration timeout{0};  // For that wait; zero: unlimited.
};

// Shows a job's progress until it ends, halts, or is interrupted; then its result. Fails if the job
// did not complete.
Answer<void> follow_job(Session& session, const std::string& id, FollowOptions options = {});

// Rate of a job in messages per second over the last few seconds.
class JobRate {
 public:
  void note(Timestamp at, std::int64_t moved);
  double per_second() const;

 private:
  std::vector<std::pair<Timestamp, std::int64_t>> looks_;
};

// "120 of 500 moved (40/s, 10 s left): 100 processed, 3 failed again, 17 open"
std::string progress_line(const documents::Job& job, const JobRate& rate);

}  // namespace redrive::cli
