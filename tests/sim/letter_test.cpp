#include "sim/letter.h"

#include <gtest/gtest.h>

#include "core/store/message_codec.h"
#include "tests/sim/facts.h"

namespace redrive::sim {
namespace {

std::string stored(const Letter& letter) {
  std::string bytes;
  store::encode_message_head(bytes,
                             {.key = letter.key,
                              .queue = letter.queue,
                              .message_id = letter.message_id,
                              .sent_wall = letter.sent_wall,
                              .visible_at = letter.visible_at,
                              .contents = {},
                              .tail_crc = draft_of(letter).tail_crc,
                              .tail = letter.tail});
  return bytes + letter.tail;
}

TEST(Letter, KnowsItsOwnBytesAndNoOthers) {
  Chance chance(7);
  const Letter letter = write_letter(chance, Post::fifo, 400);
  const Letter other = write_letter(chance, Post::fifo, 400);
  EXPECT_EQ(broken_by([&] { stored_bytes_are_the_letters(stored(letter), letter); }), "");
  EXPECT_EQ(broken_by([&] { stored_bytes_are_the_letters(stored(other), letter); }),
            "bodies come back as they were sent");
}

TEST(Letter, NoticesEveryDamagedByte) {
  Chance chance(8);
  const Letter letter = write_letter(chance, Post::standard, 200);
  const std::string whole = stored(letter);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(broken_by([&] { stored_bytes_are_the_letters(damaged, letter); }), "") << i;
  }
}

}  // namespace
}  // namespace redrive::sim
