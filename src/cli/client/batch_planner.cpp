#include "cli/client/batch_planner.h"

#include <utility>

namespace redrive::cli {

std::optional<Batch> BatchPlanner::add(NumberedMessage message) {
  const std::size_t bytes = message.message.size();
  std::optional<Batch> done;
  if (open_bytes_ + bytes > kBytesMax) done = rest();
  open_.push_back(std::move(message));
  open_bytes_ += bytes;
  if (!done && open_.size() == kEntriesMax) done = rest();
  return done;
}

std::optional<Batch> BatchPlanner::rest() {
  open_bytes_ = 0;
  if (open_.empty()) return std::nullopt;
  return std::exchange(open_, {});
}

}  // namespace redrive::cli
