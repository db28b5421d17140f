#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/session.h"
#include "documents/jobs.h"

namespace redrive::cli {

// "running", with colour where there is any.
std::string job_status(const Terminal& terminal, const documents::Job& job);

// A job as people read it, several lines.
std::string readable_job(const Terminal& terminal, const documents::Job& job);

struct FollowOptions {
  // Also wait until it is known what became of every message that the job moved. The exit code then
  // tells: 0 all were processed, 1 some failed again or are gone, 3 some are still open.
  bool settled = false;
  Duration timeout{0};  // Of that wait; zero: none.
};

// Shows a job's progress until it is over, halts, or somebody interrupts; then its end. Fails when
// the job did not complete.
Answer<void> follow_job(Session& session, const std::string& id, FollowOptions options = {});

// Messages a second between two looks at a job; the last few seconds count.
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
