#include "cli/client/message_key.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_pages.h"

namespace redrive::cli {

Answer<std::int64_t> find_message_key(Session& session, const std::string& queue,
                                      std::string_view called) {
  if (const auto key = parse_int<std::int64_t>(called)) return *key;
  const std::string id = TRY(whole_message_id(session, queue, called));
  std::optional<std::int64_t> key;
  TRY(for_each_message(session, message_called(queue, id), [&](const auto& message) {
    key = message.key;
    return false;
  }));
  if (key) return *key;
  return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                 .code = "NotFound",
                                 .message = fmt::format("{} has no message {}", queue, called)});
}

}  // namespace redrive::cli
