#include "cli/message_key.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/queue_name.h"
#include "documents/message_page.h"

namespace redrive::cli {

Answer<std::int64_t> find_message_key(Session& session, const std::string& queue,
                                      std::string_view called) {
  if (const auto key = parse_int<std::int64_t>(called)) return *key;
  const auto id = Uuid::parse(called);
  if (!id) return usage_failure("a message is called by its key or by its MessageId");
  const std::string name = percent_encode(queue_name_of(queue), false);
  std::string after;
  do {
    const auto page = TRY(session.service.manage<documents::MessagePage>(
        "GET", fmt::format("queues/{}/messages?limit=1000&after={}", name, after)));
    for (const documents::Message& message : page->messages) {
      if (message.message_id == *id || message.lineage_id == *id) return message.key;
    }
    after = page->next.value_or("");
  } while (!after.empty());
  return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                 .code = "NotFound",
                                 .message = fmt::format("{} has no message {}", queue, called)});
}

}  // namespace redrive::cli
