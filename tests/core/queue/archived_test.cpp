#include "core/queue/archived.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

Uuid id(std::uint32_t number) {
  Uuid uuid;
  for (std::size_t i = 0; i < 4; ++i) uuid.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return uuid;
}

ArchivedLineage lineage(std::uint32_t number) {
  return {.lineage = id(number % 7), .message_id = id(number), .place = fmt::format("{}", number)};
}

TEST(ArchivedLineages, AreFoundByWhatTheyWereCalledAndByLineage) {
  ArchivedLineages table;
  for (std::uint32_t i = 1; i <= 20; ++i) EXPECT_FALSE(table.put(i, lineage(i)));
  EXPECT_EQ(table.find(id(5))->place, "5");
  EXPECT_EQ(table.find(id(21)), nullptr);
  const auto found = table.of(id(3));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]->place, "3");
  EXPECT_EQ(found[2]->place, "17");
  table.note_restored(id(5), Timestamp(9));
  EXPECT_EQ(table.find(id(5))->restored_wall, Timestamp(9));
}

TEST(ArchivedLineages, TheOldestMakesRoomInWhateverOrderTheyCome) {
  constexpr auto kMax = static_cast<std::uint32_t>(ArchivedLineages::kMax);
  ArchivedLineages forward;
  ArchivedLineages backward;
  for (std::uint32_t i = 1; i <= kMax + 10; ++i) {
    const auto gone = forward.put(i, lineage(i));
    EXPECT_EQ(gone.has_value(), i > kMax);
    backward.put(kMax + 11 - i, lineage(kMax + 11 - i));
  }
  EXPECT_EQ(forward.entries(), backward.entries());
  EXPECT_EQ(forward.entries().begin()->first, 11u);
  EXPECT_EQ(forward.find(id(10)), nullptr);
  EXPECT_NE(forward.find(id(11)), nullptr);
}

TEST(ArchivedLineages, OneThatIsRepeatedIsThereOnce) {
  ArchivedLineages table;
  table.put(1, lineage(1));
  const auto replaced = table.put(1, lineage(1));
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(table.entries().size(), 1u);
  EXPECT_NE(table.find(id(1)), nullptr);
}

}  // namespace
}  // namespace redrive::queue
