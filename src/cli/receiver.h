#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "sqs/actions.h"

namespace redrive::cli {

// The receiving end of one queue, shared by `receive` and `tail`.
class Receiver {
 public:
  struct Poll {
    std::int32_t count_max = 10;
    std::int32_t wait_seconds = 0;
    std::optional<std::int32_t> visibility_seconds;  // None: the queue's own.
  };
  using Messages = Reply<sqs::ReceiveMessageOutput>;

  Receiver(Session& session, std::string queue_url);

  Answer<Messages> poll(const Poll& poll);
  // On standard output, as a line of JSON or for people.
  void print(const sqs::ReceivedMessage& message);
  // Both work through any number of receipts, ten a request, and report entries that fail on
  // standard error before they fail themselves.
  Answer<void> remove(const std::vector<std::string>& receipts);
  Answer<void> release(const std::vector<std::string>& receipts);

 private:
  Session& session_;
  std::string queue_url_;
  bool printed_before_ = false;
};

std::vector<std::string> receipts_of(const sqs::ReceiveMessageOutput& output);

}  // namespace redrive::cli
