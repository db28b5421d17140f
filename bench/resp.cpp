#include "bench/resp.h"

#include <fmt/format.h>

#include "base/text.h"
#include "bench/client.h"

namespace redrive::bench {
namespace {

// Reads values until as many as announced are complete.
class Walk {
 public:
  explicit Walk(std::string_view bytes) : bytes_(bytes) {}

  // False while bytes are missing.
  Result<bool> read_all() {
    for (std::int64_t awaited = 1; awaited > 0; --awaited) {
      const auto inner = TRY(read_one());
      if (!inner) return false;
      awaited += *inner;
    }
    return true;
  }
  RespReply reply;

 private:
  // How many nested values follow; nullopt while bytes are missing.
  Result<std::optional<std::int64_t>> read_one() {
    const std::size_t end = bytes_.find("\r\n", reply.size);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = bytes_.substr(reply.size, end - reply.size);
    const std::string_view rest = line.substr(line.empty() ? 0 : 1);
    const char kind = line.empty() ? '?' : line[0];
    if (kind == '-') reply.error = rest;
    if (kind == '+' || kind == '-' || kind == ':') return finish(end + 2, 0);
    const auto count = parse_int<std::int64_t>(rest);
    if ((kind != '$' && kind != '*') || !count) return unwelcome("Redis", line);
    if (kind == '*') return finish(end + 2, std::max<std::int64_t>(*count, 0));
    return *count < 0 ? finish(end + 2, 0) : read_text(end + 2, static_cast<std::size_t>(*count));
  }

  std::optional<std::int64_t> read_text(std::size_t begin, std::size_t size) {
    if (bytes_.size() < begin + size + 2) return std::nullopt;
    reply.texts.push_back(bytes_.substr(begin, size));
    return finish(begin + size + 2, 0);
  }

  std::optional<std::int64_t> finish(std::size_t end, std::int64_t inner) {
    reply.size = end;
    return inner;
  }

  const std::string_view bytes_;
};

}  // namespace

void append_command(std::string& out, std::span<const std::string_view> words) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", words.size());
  for (const std::string_view word : words) {
    fmt::format_to(std::back_inserter(out), "${}\r\n{}\r\n", word.size(), word);
  }
}

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_command(out, std::span(words.begin(), words.size()));
}

Result<std::optional<RespReply>> parse_resp(std::string_view bytes) {
  Walk walk(bytes);
  if (!TRY(walk.read_all())) return std::nullopt;
  return std::move(walk.reply);
}

}  // namespace redrive::bench
