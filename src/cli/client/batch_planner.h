#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/client/outgoing.h"

namespace redrive::cli {

// A message and its position in the input, from 1.
struct NumberedMessage {
  std::uint64_t number = 0;
  OutgoingMessage message;
};

using Batch = std::vector<NumberedMessage>;

// Groups messages into batches, in order: at most ten, and at most 1 MiB in total. A larger message
// is sent alone and is refused by the service.
class BatchPlanner {
 public:
  static constexpr std::size_t kEntriesMax = 10;
  static constexpr std::size_t kBytesMax = 1u << 20;

  // Returns a batch if this message completed it or did not fit into it.
  std::optional<Batch> add(NumberedMessage message);
  // The remaining messages at the end.
  std::optional<Batch> rest();

 private:
  Batch open_;
  std::size_t open_bytes_ = 0;
};

}  // namespace redrive::cli
