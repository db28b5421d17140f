#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/outgoing.h"

namespace redrive::cli {

// A message and its place in the input, counted from 1.
struct NumberedMessage {
  std::uint64_t number = 0;
  OutgoingMessage message;
};

using Batch = std::vector<NumberedMessage>;

// Fills requests with messages, in the order in which they come: at most ten in one, and at most
// 1 MiB together. A message larger than that travels alone, for the service to refuse.
class BatchPlanner {
 public:
  static constexpr std::size_t kEntriesMax = 10;
  static constexpr std::size_t kBytesMax = 1u << 20;

  // The batch that this message completed or no longer fitted into, if any.
  std::optional<Batch> add(NumberedMessage message);
  // What is left at the end.
  std::optional<Batch> rest();

 private:
  Batch open_;
  std::size_t open_bytes_ = 0;
};

}  // namespace redrive::cli
