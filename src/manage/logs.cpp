// The latest lines of the server's log.

#include "base/text.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kLogLinesMax = 1'000;

}  // namespace

Result<documents::ServerLogPage> read_log(Call& call) {
  const auto after = parse_int<std::uint64_t>(call.query("after")).value_or(0);
  const std::size_t max = TRY(call.query_number("limit", 100, kLogLinesMax));
  documents::ServerLogPage page;
  if (!call.parts.log_after) return page;
  for (documents::KeptLogLine& line : call.parts.log_after(after, max)) {
    page.lines.push_back({.number = static_cast<std::int64_t>(line.number),
                          .at = call.keep(std::move(line.at)),
                          .level = call.keep(std::move(line.level)),
                          .text = call.keep(std::move(line.text))});
  }
  return page;
}

Result<documents::ExposedKeyFiles> list_exposed_key_files(Call& call) {
  documents::ExposedKeyFiles out;
  if (!call.parts.exposed_key_files) return out;
  for (auto& [path, exposed_to] : call.parts.exposed_key_files()) {
    out.files.push_back(
        {.path = call.keep(std::move(path)), .exposed_to = call.keep(std::move(exposed_to))});
  }
  return out;
}

}  // namespace redrive::manage
