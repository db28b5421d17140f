#include "core/queue/receipt_handle.h"

#include <cstring>

#include "base/base64.h"
#include "base/digest.h"
#include "base/text.h"

namespace redrive::queue {
namespace {

// 27 bytes, 36 characters of base64, beginning with "AQEB" as handles have always done:
// 3 bytes version, u32 queue, u64 message, u32 generation, u64 SipHash of all that.
struct [[gnu::packed]] Sealed {
  std::array<std::uint8_t, 3> version;
  std::uint32_t queue;
  std::uint64_t key;
  std::uint32_t generation;
  std::uint64_t seal;
};
static_assert(sizeof(Sealed) == 27);

constexpr std::array<std::uint8_t, 3> kVersion = {1, 1, 1};

std::uint64_t seal_of(const Sealed& sealed, const ReceiptHandle::Secret& secret) {
  return siphash(secret, {reinterpret_cast<const char*>(&sealed), offsetof(Sealed, seal)});
}

}  // namespace

ReceiptHandle::Text ReceiptHandle::text(const Secret& secret) const {
  Sealed sealed{kVersion, number(queue), number(key), generation, 0};
  sealed.seal = seal_of(sealed, secret);
  Text text;
  base64_write(text.bytes.data(), {reinterpret_cast<const char*>(&sealed), sizeof(sealed)});
  return text;
}

std::optional<ReceiptHandle> ReceiptHandle::open(const Secret& secret, std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != sizeof(Sealed)) return std::nullopt;
  Sealed sealed;
  std::memcpy(&sealed, bytes->data(), sizeof(sealed));
  if (sealed.version != kVersion || sealed.seal != seal_of(sealed, secret)) return std::nullopt;
  return ReceiptHandle{
      static_cast<QueueKey>(sealed.queue), static_cast<MessageKey>(sealed.key), sealed.generation};
}

}  // namespace redrive::queue
