#include "core/queue/receipt_handle.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace redrive::queue {
namespace {

constexpr ReceiptHandle::Secret kSecret = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6};

ReceiptHandle some_handle() {
  return {static_cast<QueueKey>(77), static_cast<MessageKey>(0x1122334455667788), 3};
}

TEST(ReceiptHandle, IsReadBackWithTheSecretThatSealedIt) {
  const std::string text = some_handle().seal(kSecret);
  EXPECT_EQ(text.size(), ReceiptHandle::kTextSize);
  EXPECT_TRUE(text.starts_with("AQEB")) << text;
  EXPECT_EQ(ReceiptHandle::open(kSecret, text), some_handle());
}

TEST(ReceiptHandle, EveryReceiveGivesAnother) {
  ReceiptHandle later = some_handle();
  ++later.generation;
  EXPECT_NE(later.seal(kSecret), some_handle().seal(kSecret));
}

TEST(ReceiptHandle, AnotherSecretDoesNotOpenIt) {
  const std::string text = some_handle().seal(kSecret);
  for (std::size_t i = 0; i < kSecret.size(); ++i) {
    ReceiptHandle::Secret other = kSecret;
    other[i] ^= 1;
    EXPECT_EQ(ReceiptHandle::open(other, text), std::nullopt) << i;
  }
}

TEST(ReceiptHandle, NoBitOfItMayChange) {
  const std::string bytes = *base64_decode(some_handle().seal(kSecret));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string forged = bytes;
    forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(ReceiptHandle::open(kSecret, base64_encode(forged)), std::nullopt) << "bit " << bit;
  }
}

TEST(ReceiptHandle, GarbageIsRefused) {
  const std::string text = some_handle().seal(kSecret);
  for (const std::string& garbage : {std::string(),
                                     std::string("garbage"),
                                     text.substr(1),
                                     text + "A",
                                     text + text,
                                     std::string(36, 'A'),
                                     std::string(36, '*'),
                                     std::string(36, '='),
                                     "\xff" + text.substr(1)}) {
    EXPECT_EQ(ReceiptHandle::open(kSecret, garbage), std::nullopt) << garbage;
  }
}

}  // namespace
}  // namespace redrive::queue
