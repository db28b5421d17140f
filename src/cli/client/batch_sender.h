#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "aws/sqs/model/actions.h"
#include "base/ids.h"
#include "cli/client/batch_planner.h"
#include "cli/client/failure.h"
#include "cli/client/retry.h"
#include "cli/client/service.h"

namespace redrive::cli {

// Receives the result of each message, once. Called from the sending threads.
class SendReport {
 public:
  virtual ~SendReport() = default;
  virtual void accepted(std::uint64_t number, const sqs::SendMessageBatchResultEntry& entry) = 0;
  virtual void refused(std::uint64_t number, const sqs::BatchResultErrorEntry& entry) = 0;
};

// Sends batches over one connection, retrying each message until it is accepted, refused for good,
// or the attempts are exhausted.
class BatchSender {
 public:
  struct Parts {
    Service service;
    std::string queue_url;
    SendReport& report;
    std::function<void(Duration)> sleep;
    std::uint64_t seed;  // For the backoff's jitter.
  };

  explicit BatchSender(Parts parts);

  // Fails if a request failed as a whole: the result of the messages not reported yet is unknown,
  // and sending more is useless.
  Answer<void> send(const Batch& batch);

 private:
  using Open = std::vector<const NumberedMessage*>;

  // Reports final results and returns the messages to retry.
  Open settle(const Open& open, const sqs::SendMessageBatchOutput& output, bool last_attempt);

  Parts parts_;
  SeededIds ids_;
};

}  // namespace redrive::cli
