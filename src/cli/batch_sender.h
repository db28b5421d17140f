#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "cli/batch_planner.h"
#include "cli/failure.h"
#include "cli/retry.h"
#include "cli/service.h"
#include "sqs/actions.h"

namespace redrive::cli {

// Hears what became of each message, once. Called from the threads that send.
class SendReport {
 public:
  virtual ~SendReport() = default;
  virtual void accepted(std::uint64_t number, const sqs::SendMessageBatchResultEntry& entry) = 0;
  virtual void refused(std::uint64_t number, const sqs::BatchResultErrorEntry& entry) = 0;
};

// Sends batches over one connection and does not let go of a message before it is accepted, refused
// for its own fault, or tried often enough.
class BatchSender {
 public:
  struct Parts {
    Service service;
    std::string queue_url;
    SendReport& report;
    std::function<void(Duration)> sleep;
    std::uint64_t seed;  // For the backoff's chance.
  };

  explicit BatchSender(Parts parts);

  // Fails when the request as a whole did: then nothing more was heard of the messages that are not
  // yet reported, and sending others is of no use.
  Answer<void> send(const Batch& batch);

 private:
  using Open = std::vector<const NumberedMessage*>;

  // Reports what is settled and gives back what deserves another attempt.
  Open settle(const Open& open, const sqs::SendMessageBatchOutput& output, bool last_attempt);

  Parts parts_;
  SeededIds ids_;
};

}  // namespace redrive::cli
