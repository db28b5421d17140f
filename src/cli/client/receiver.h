#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aws/sqs/model/actions.h"
#include "cli/client/session.h"

namespace redrive::cli {

// Receives from one queue; shared by `receive` and `tail`.
class Receiver {
 public:
  struct Poll {
    std::int32_t count_max = 10;
    std::int32_t wait_seconds = 0;
    std::optional<std::int32_t> visibility_seconds;  // nullopt: the queue's own.
  };
  using Messages = Reply<sqs::ReceiveMessageOutput>;

  Receiver(Session& session, std::string queue_url);

  Answer<Messages> poll(const Poll& poll);
  // Prints to stdout, as a line of JSON or for people.
  void print(const sqs::ReceivedMessage& message);
  // Both take any number of receipts, ten per request, and print failed entries to stderr before
  // failing.
  Answer<void> remove(const std::vector<std::string>& receipts);
  Answer<void> release(const std::vector<std::string>& receipts);

 private:
  Session& session_;
  std::string queue_url_;
  bool printed_before_ = false;
};

std::vector<std::string> receipts_of(const sqs::ReceiveMessageOutput& output);

}  // namespace redrive::cli
