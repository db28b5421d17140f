#include "bench/nats_frame.h"

#include "base/text.h"
#include "bench/client.h"

namespace redrive::bench {
namespace {

using Kind = NatsFrame::Kind;

struct Word {
  std::string_view text;
  Kind kind;
};
constexpr Word kWords[] = {
    {"INFO", Kind::info},
    {"PING", Kind::ping},
    {"PONG", Kind::pong},
    {"+OK", Kind::ok},
    {"-ERR", Kind::error},
    {"MSG", Kind::message},
    {"HMSG", Kind::message_with_header},
};

std::optional<Kind> kind_of(std::string_view word) {
  for (const Word& known : kWords) {
    if (known.text == word) return known.kind;
  }
  return std::nullopt;
}

// Parses the first line of a message, which ends with its size.
Result<std::optional<NatsFrame>> parse_message(Kind kind, std::string_view bytes,
                                               std::string_view line) {
  const auto words = split(line, ' ');
  const std::size_t sizes = kind == Kind::message ? 1 : 2;
  if (words.size() < 3 + sizes) return unwelcome("NATS", line);
  const auto size = parse_int<std::size_t>(words.back());
  if (!size) return unwelcome("NATS", line);
  const std::size_t begin = line.size() + 2;
  if (bytes.size() < begin + *size + 2) return std::nullopt;
  return NatsFrame{.kind = kind,
                   .subscription = words[2],
                   .reply = words.size() > 3 + sizes ? words[3] : std::string_view(),
                   .payload = bytes.substr(begin, *size),
                   .size = begin + *size + 2};
}

}  // namespace

Result<std::optional<NatsFrame>> parse_nats(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = bytes.substr(0, end);
  const auto kind = kind_of(line.substr(0, line.find(' ')));
  if (!kind) return unwelcome("NATS", line);
  if (*kind == Kind::message || *kind == Kind::message_with_header)
    return parse_message(*kind, bytes, line);
  return NatsFrame{.kind = *kind, .payload = line, .size = end + 2};
}

}  // namespace redrive::bench
