// Arbitrary text as a receipt handle: only sealed handles open, and they open to what was sealed.
// The text is tried as it is and, since random mutation does not find seals, as the numbers of a
// handle whose text then has one bit flipped.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "core/queue/receipt_handle.h"

namespace {

using namespace redrive::queue;

constexpr ReceiptHandle::Secret kSecret = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
constexpr ReceiptHandle::Secret kOtherSecret = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};

void require(bool holds) {
  if (!holds) std::abort();
}

struct Numbers {
  std::uint64_t message = 0;
  std::uint32_t queue = 0;
  std::uint32_t generation = 0;
  std::uint32_t bit = 0;
};

void check_sealed(const Numbers& numbers) {
  const ReceiptHandle handle{static_cast<QueueKey>(numbers.queue),
                             static_cast<MessageKey>(numbers.message),
                             numbers.generation};
  std::string text = handle.seal(kSecret);
  require(text.size() == ReceiptHandle::kTextSize);
  require(ReceiptHandle::open(kSecret, text) == handle);
  require(!ReceiptHandle::open(kOtherSecret, text));
  text[numbers.bit / 8 % text.size()] ^= static_cast<char>(1 << (numbers.bit % 8));
  require(!ReceiptHandle::open(kSecret, text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto opened = ReceiptHandle::open(kSecret, text))
    require(opened->seal(kSecret) == text);
  Numbers numbers;
  if (size < sizeof numbers) return 0;
  std::memcpy(&numbers, data, sizeof numbers);
  check_sealed(numbers);
  return 0;
}
