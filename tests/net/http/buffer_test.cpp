#include "net/http/buffer.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::http {
namespace {

TEST(Buffer, KeepsUnreadBytesThroughGrowthAndMoves) {
  Buffer buffer(8);
  buffer.append("abcdef");
  buffer.consume(4);
  buffer.append("ghij");  // Fits only after the unread bytes move to the front.
  EXPECT_EQ(buffer.unread(), "efghij");
  EXPECT_EQ(buffer.capacity(), 8u);
  buffer.append("klmnop");
  EXPECT_EQ(buffer.unread(), "efghijklmnop");
  buffer.truncate(3);
  EXPECT_EQ(buffer.unread(), "efg");
}

TEST(Buffer, HasReadablePaddingBehindItsLastByte) {
  Buffer buffer;
  buffer.append("x");
  volatile char sum = 0;
  // Checked by ASan.
  for (std::size_t i = 0; i < kBodyPadding; ++i) sum = sum ^ buffer.data()[1 + i];
  EXPECT_EQ(buffer.size(), 1u);
}

TEST(Buffer, StartsOverWhenAllIsUsed) {
  Buffer buffer(4);
  buffer.append("abcd");
  buffer.consume(4);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.space().size(), 4u);
  buffer.release();
  EXPECT_EQ(buffer.capacity(), 0u);
}

}  // namespace
}  // namespace redrive::http
