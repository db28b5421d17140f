#include "cli/term/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace redrive::cli {
namespace {

constexpr std::uint64_t kBarWidth = 30;

std::string bar(std::uint64_t done, std::uint64_t total) {
  const std::uint64_t filled = total == 0 ? kBarWidth : std::min(done, total) * kBarWidth / total;
  return fmt::format("[{:#<{}}{:.<{}}] {:3}%",
                     "",
                     filled,
                     "",
                     kBarWidth - filled,
                     total == 0 ? 100 : std::min(done, total) * 100 / total);
}

}  // namespace

Progress::Progress(Terminal& terminal, const Clock& clock, std::optional<std::uint64_t> total,
                   std::string done_word)
    : terminal_(terminal),
      clock_(clock),
      total_(total),
      done_word_(std::move(done_word)),
      started_(clock.steady()),
      drawn_(started_) {}

void Progress::update(std::uint64_t done) {
  const Timestamp now = clock_.steady();
  if (!terminal_.err_is_terminal || now - drawn_ < kRedrawEvery) return;
  drawn_ = now;
  on_screen_ = true;
  const std::int64_t elapsed = std::max<std::int64_t>(1, (now - started_).count());
  terminal_.err << fmt::format("\r\x1b[K{}{} {}, {}/s",
                               total_ ? bar(done, *total_) + "  " : "",
                               done,
                               done_word_,
                               done * 1000 / static_cast<std::uint64_t>(elapsed))
                << std::flush;
}

void Progress::clear() {
  if (on_screen_) terminal_.err << "\r\x1b[K" << std::flush;
  on_screen_ = false;
}

}  // namespace redrive::cli
