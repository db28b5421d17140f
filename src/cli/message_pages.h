#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "cli/failure.h"
#include "cli/session.h"
#include "documents/message_page.h"

// Messages as the management API shows them, page after page, and what of them is shown to whom.

namespace redrive::cli {

// Values that look like secrets become ***, unless the request asks for them. The server masks, and
// records who asked; where bytes must be exact (export, try), they are asked for as they are.
enum class Secrets : std::uint8_t { masked, shown };

// The parameter that asks for secrets, to follow another one in a query string.
std::string_view secrets_parameter(Secrets secrets);

struct MessageQuestion {
  std::string queue;   // Name, URL or ARN.
  std::string filter;  // Empty: all.
  Secrets secrets = Secrets::masked;
  std::uint64_t messages_max = std::numeric_limits<std::uint64_t>::max();
};

// The one message of a queue with this MessageId, or that was first sent with it.
MessageQuestion message_called(std::string queue, std::string_view id);

// The MessageId that a text means among the messages of a queue: itself when it is whole, otherwise
// the only one that begins so. A failure when there are several or none.
Answer<std::string> whole_message_id(Session& session, const std::string& queue,
                                     std::string_view called);

// Goes through the queue, oldest first, and tells how many messages were visited. Stops early when
// `visit` says false. Fails when secrets were asked for and the server masked them.
Answer<std::uint64_t> for_each_message(Session& session, const MessageQuestion& question,
                                       const std::function<bool(const documents::Message&)>& visit);

// A failure when secrets were asked for and the answer does not have them.
Answer<void> check_secrets(Secrets secrets, const std::optional<bool>& masked);

// For people, or with --json one document a line.
void print_message(Session& session, const documents::Message& message, Secrets secrets);

// A copy with the secrets masked, and the texts that it points into.
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
