#include "core/queue/code_use.h"

#include <gtest/gtest.h>

#include "core/queue/change.h"

namespace redrive::queue {
namespace {

constexpr auto kA = static_cast<CodeIndex>(1);
constexpr auto kB = static_cast<CodeIndex>(2);

const CodeUse* find(const CodeUses& uses, CodeIndex code) {
  for (const CodeUse& use : uses.all()) {
    if (use.code == code) return &use;
  }
  return nullptr;
}

TEST(CodeUses, CountsWhatEachVersionDid) {
  CodeUses uses;
  uses.note_processed({kA, Timestamp(10)}, Timestamp(11));
  uses.note_failed({kB, Timestamp(20)}, Timestamp(25));
  uses.note_processed({kA, Timestamp(30)}, Timestamp(31));
  uses.note_failed({kB, Timestamp(18)}, Timestamp(26));
  EXPECT_EQ(*find(uses, kA), (CodeUse{kA, 2, 0, Timestamp(10), Timestamp(31)}));
  EXPECT_EQ(*find(uses, kB), (CodeUse{kB, 0, 2, Timestamp(18), Timestamp(26)}));
  EXPECT_FALSE(uses.forgot());
}

TEST(CodeUses, ForgetsTheVersionThatWasUsedLongestAgoAndSaysSo) {
  CodeUses uses;
  for (std::uint32_t i = 1; i <= kCodeUsesMax + 1; ++i)
    uses.note_processed({static_cast<CodeIndex>(i), Timestamp(i)}, Timestamp(i));
  EXPECT_EQ(uses.all().size(), kCodeUsesMax);
  EXPECT_EQ(find(uses, kA), nullptr);
  EXPECT_NE(find(uses, kB), nullptr);
  EXPECT_TRUE(uses.forgot());
}

TEST(CodeTable, NamesOfTheSameCodeAreOne) {
  CodeTable table;
  const auto one = table.of(static_cast<NameIndex>(1), "checkout 10.0.0.1 app=v2");
  const auto other = table.of(static_cast<NameIndex>(7), "checkout 10.0.0.2 app=v2");
  EXPECT_EQ(one, other);
  EXPECT_NE(table.of(static_cast<NameIndex>(3), "checkout 10.0.0.1 app=v3"), one);
  EXPECT_EQ(table[one], "checkout app=v2");
  EXPECT_EQ(table.of("checkout app=v2"), one);
  EXPECT_EQ(table.of(NameIndex::none, ""), CodeIndex::none);
}

// While a checkpoint is loaded, facts may name a consumer before its name is learned.
TEST(CodeTable, ANameWithoutATextYetIsReadOnceItHasOne) {
  CodeTable table;
  constexpr auto kName = static_cast<NameIndex>(1);
  EXPECT_EQ(table.of(kName, ""), CodeIndex::none);
  EXPECT_EQ(table[table.of(kName, "checkout 10.0.0.1 app=v2")], "checkout app=v2");
}

TEST(FailedAttempts, AreThoseOfThePresentLife) {
  History history;
  history.add(Attempt{.received_wall = Timestamp(1), .end = AttemptEnd::failed});
  history.add(LineageEvent{.wall = Timestamp(5), .kind = LineageEvent::Kind::redriven});
  history.add(Attempt{.received_wall = Timestamp(6), .end = AttemptEnd::released});
  history.add(Attempt{.received_wall = Timestamp(7), .end = AttemptEnd::visibility_expired});
  const auto failed = failed_attempts(history);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed.front().received_wall, Timestamp(7));
}

TEST(FailedAttempts, AreTheLastOneIfNoneFailed) {
  History history;
  history.add(Attempt{.received_wall = Timestamp(1), .end = AttemptEnd::released});
  history.add(Attempt{.received_wall = Timestamp(2), .end = AttemptEnd::released});
  const auto failed = failed_attempts(history);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed.front().received_wall, Timestamp(2));
}

}  // namespace
}  // namespace redrive::queue
