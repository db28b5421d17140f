#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "cli/client/failure.h"
#include "cli/client/session.h"
#include "manage/documents/message_page.h"

// Pages of messages from the management API, with masking of secrets.

namespace redrive::cli {

// By default the server masks values that look like secrets. Unmasked values must be requested,
// which the server records; export and try need the exact bytes and request them.
enum class Secrets : std::uint8_t { masked, shown };

// The query parameter that requests unmasked values, to be appended to another one.
std::string_view secrets_parameter(Secrets secrets);

struct MessageQuestion {
  std::string queue;   // Name, URL or ARN.
  std::string filter;  // Empty: all.
  Secrets secrets = Secrets::masked;
  std::uint64_t messages_max = std::numeric_limits<std::uint64_t>::max();
};

// The message of a queue with this MessageId, or that was first sent with it.
MessageQuestion message_called(std::string queue, std::string_view id);

// Expands a MessageId prefix among the messages of a queue; a complete id is returned as it is.
// Fails if there are several matches or none.
Answer<std::string> whole_message_id(Session& session, const std::string& queue,
                                     std::string_view called);

// Visits the messages of a queue, oldest first, and returns how many were visited. Stops if `visit`
// returns false. Fails if unmasked values were requested and the server masked them.
Answer<std::uint64_t> for_each_message(Session& session, const MessageQuestion& question,
                                       const std::function<bool(const documents::Message&)>& visit);

// Fails if unmasked values were requested and the response is masked.
Answer<void> check_secrets(Secrets secrets, const std::optional<bool>& masked);

// Human-readable, or with --json one document per line.
void print_message(Session& session, const documents::Message& message, Secrets secrets);

// A copy with secrets masked, which owns its texts.
class MaskedMessage {
 public:
  explicit MaskedMessage(const documents::Message& message);
  MaskedMessage(const MaskedMessage&) = delete;
  MaskedMessage& operator=(const MaskedMessage&) = delete;

  const documents::Message& operator*() const { return message_; }

 private:
  documents::Message message_;
  std::string body_;
  std::vector<std::string> values_;
};

}  // namespace redrive::cli
