#include "app/refusals.h"

#include <fmt/format.h>

#include <chrono>

#include "base/calendar.h"
#include "base/clock.h"
#include "net/wire/encode.h"

namespace redrive::app {
namespace {

std::string line_of(const front::RefusalLimit::Suppressed& suppressed, Timestamp wall) {
  std::string line = R"({"time":)";
  wire::append_json_text(line, format_utc(wall));
  line += R"(,"who":)";
  wire::append_json_text(line, suppressed.who);
  line += R"(,"from":)";
  wire::append_json_text(line, suppressed.from);
  line += fmt::format(R"(,"outcome":"RateLimited","suppressed":{}}})", suppressed.count);
  return line;
}

}  // namespace

bool Refusals::admit(std::string_view caller, std::string_view peer) {
  return limit_.admit(caller, peer, std::chrono::steady_clock::now());
}

void Refusals::write_suppressed() {
  const SystemClock clock;
  for (const auto& suppressed : limit_.take_suppressed(std::chrono::steady_clock::now())) {
    audit_.write(line_of(suppressed, clock.wall()));
  }
}

}  // namespace redrive::app
