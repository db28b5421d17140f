#include "bench/reply.h"

#include <fmt/format.h>

#include "base/text.h"

namespace redrive::bench {
namespace {

constexpr std::string_view kLengthName = "content-length:";

std::optional<std::size_t> length_in(std::string_view line) {
  if (!iequals(line.substr(0, kLengthName.size()), kLengthName)) return std::nullopt;
  line.remove_prefix(kLengthName.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  return parse_int<std::size_t>(line);
}

std::optional<std::size_t> content_length(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    if (const auto length = length_in(head.substr(0, end))) return length;
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
  }
  return std::nullopt;
}

std::unexpected<Error> broken(std::string_view why, std::string_view head) {
  return fail(ErrorCode::network, fmt::format("{}: {}", why, head.substr(0, 200)));
}

}  // namespace

Result<std::optional<Reply>> parse_reply(std::string_view bytes) {
  const std::size_t head_size = bytes.find("\r\n\r\n");
  if (head_size == std::string_view::npos) return std::nullopt;
  const std::string_view head = bytes.substr(0, head_size);
  // HTTP/1.1 200 OK
  const auto status =
      head.starts_with("HTTP/1.1 ") ? parse_int<int>(head.substr(9, 3)) : std::nullopt;
  if (!status) return broken("not an HTTP/1.1 answer", head);
  const auto length = content_length(head);
  if (!length) return broken("an answer without Content-Length", head);
  const std::size_t size = head_size + 4 + *length;
  if (bytes.size() < size) return std::nullopt;
  return Reply{.status = *status, .body = bytes.substr(head_size + 4, *length), .size = size};
}

}  // namespace redrive::bench
