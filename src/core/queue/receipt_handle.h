#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/queue/ids.h"

namespace redrive::queue {

// Proof of one receive: which queue, which message, which delivery of it. Sealed with the server's
// secret, so that an old handle can be distinguished from a forged one.
struct ReceiptHandle {
  QueueKey queue = QueueKey::none;
  MessageKey key = MessageKey::none;
  std::uint32_t generation = 0;

  friend bool operator==(const ReceiptHandle&, const ReceiptHandle&) = default;

  using Secret = std::array<std::uint8_t, 16>;
  static constexpr std::size_t kTextSize = 36;
  // As sent to clients.
  struct Text {
    std::array<char, kTextSize> bytes;

    operator std::string_view() const { return {bytes.data(), bytes.size()}; }
  };
  Text text(const Secret& secret) const;
  std::string seal(const Secret& secret) const { return std::string(text(secret)); }
  static std::optional<ReceiptHandle> open(const Secret& secret, std::string_view text);
};

}  // namespace redrive::queue
