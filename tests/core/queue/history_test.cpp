#include "core/queue/history.h"

#include <gtest/gtest.h>

namespace redrive::queue {
namespace {

Attempt attempt(std::int64_t when) {
  return {.received_wall = Timestamp(when)};
}

std::vector<std::int64_t> times(const History& history) {
  std::vector<std::int64_t> out;
  for (const Attempt& one : history.attempts) out.push_back(one.received_wall.ms());
  return out;
}

// How it began and how it went lately; what lies between is only counted.
TEST(History, KeepsTheFirst3AndTheLast20Attempts) {
  History history;
  for (int i = 1; i <= 23; ++i) history.add(attempt(i));
  ASSERT_EQ(history.attempts.size(), kAttemptsFirst + kAttemptsLast);
  EXPECT_EQ(times(history)[22], 23);

  for (int i = 24; i <= 1000; ++i) history.add(attempt(i));
  std::vector<std::int64_t> expected = {1, 2, 3};
  for (int i = 981; i <= 1000; ++i) expected.push_back(i);
  EXPECT_EQ(times(history), expected);
  EXPECT_EQ(history.attempts_total, 1000u);
}

// Where a message came from matters as long as it lives: the first events stay, like the last.
TEST(History, KeepsTheFirst3AndTheLast20Events) {
  History history;
  for (int i = 1; i <= 1000; ++i) history.add(LineageEvent{.wall = Timestamp(i)});
  std::vector<std::int64_t> expected = {1, 2, 3};
  for (int i = 981; i <= 1000; ++i) expected.push_back(i);
  std::vector<std::int64_t> kept;
  for (const LineageEvent& event : history.events) kept.push_back(event.wall.ms());
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(history.events_total, 1000u);
}

TEST(History, AnAttemptEndsOnce) {
  History history;
  history.received_at = Timestamp(5'000);
  history.add(attempt(1));
  history.end_attempt(AttemptEnd::released, Timestamp(7'500));
  EXPECT_EQ(history.attempts[0].end, AttemptEnd::released);
  EXPECT_EQ(history.attempts[0].duration_ms, 2'500u);

  history.end_attempt(AttemptEnd::visibility_expired, Timestamp(9'000));
  EXPECT_EQ(history.attempts[0].end, AttemptEnd::released);
  EXPECT_EQ(history.attempts[0].duration_ms, 2'500u);
}

TEST(History, ADurationIsNeverNegativeNorWrapsAround) {
  History history;
  history.received_at = Timestamp(5'000);
  history.add(attempt(1));
  history.end_attempt(AttemptEnd::released, Timestamp(4'000));
  EXPECT_EQ(history.attempts[0].duration_ms, 0u);

  history.add(attempt(2));
  history.end_attempt(AttemptEnd::released, Timestamp(5'000 + (std::int64_t{1} << 40)));
  EXPECT_EQ(history.attempts[1].duration_ms, UINT32_MAX);
}

TEST(History, WithoutAnAttemptThereIsNothingToEnd) {
  History history;
  history.end_attempt(AttemptEnd::released, Timestamp(1));
  EXPECT_EQ(history, History{});
}

TEST(History, ClearedItIsLikeNew) {
  History history;
  history.add(attempt(1));
  history.redrives = 2;
  history.message_id = Uuid{};
  history.clear();
  EXPECT_EQ(history, History{});
}

}  // namespace
}  // namespace redrive::queue
