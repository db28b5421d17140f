#include "core/queue/age_order.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/queue/mailbox.h"

// Messages by age, and pages of them, beside a std::set that does the same slowly.

namespace redrive::queue {
namespace {

using Slots = std::vector<Slot>;

struct AgedMessages {
  MessageTable table;
  std::map<AgeMark, Slot> model;
  std::uint64_t last_key = 0;

  Slot make(std::int64_t sent_ms) {
    const Slot slot = table.insert(static_cast<MessageKey>(++last_key));
    table[slot].sent_at = Timestamp(sent_ms);
    table[slot].phase = Phase::visible;
    model.emplace(age_in(table, slot), slot);
    return slot;
  }
  void forget(Slot slot) {
    model.erase(age_in(table, slot));
    table.erase(slot);
  }
  Slot any(std::mt19937& random) const {
    auto at = model.lower_bound(
        {Timestamp(std::uniform_int_distribution<std::int64_t>(0, 1'000'000)(random))});
    return at == model.end() ? model.begin()->second : at->second;
  }
  Slots behind(const AgeMark& mark, std::size_t max) const {
    Slots out;
    for (auto at = model.upper_bound(mark); at != model.end() && out.size() < max; ++at) {
      out.push_back(at->second);
    }
    return out;
  }
  Slots before(const AgeMark& mark, std::size_t max) const {
    Slots out;
    for (auto at = model.lower_bound(mark); at != model.begin() && out.size() < max;) {
      out.push_back((--at)->second);
    }
    return out;
  }
};

constexpr AgeMark kStart{Timestamp(INT64_MIN)};
constexpr AgeMark kEnd{Timestamp(INT64_MAX)};

TEST(AgeOrder, HoldsMessagesInOrderWhateverOrderTheyComeAndGo) {
  std::mt19937 random(3);
  AgedMessages messages;
  AgeOrder order(messages.table);
  EXPECT_EQ(order.oldest(), kNoSlot);
  for (int step = 0; step < 30'000; ++step) {
    const bool growing = (step / 6'000) % 2 == 0;
    if (messages.model.empty() || random() % 10 < (growing ? 8u : 2u)) {
      order.insert(messages.make(random() % 1'000'000));
    } else {
      const Slot slot = messages.any(random);
      order.erase(slot);
      messages.forget(slot);
    }
    if (step % 500 != 0 || messages.model.empty()) continue;
    ASSERT_EQ(order.oldest(), messages.model.begin()->second);
    Slots all;
    order.append_behind(kStart, SIZE_MAX, all);
    ASSERT_EQ(all, messages.behind(kStart, SIZE_MAX));
    const AgeMark place{Timestamp(static_cast<std::int64_t>(random() % 1'000'000))};
    Slots some;
    order.append_behind(place, 700, some);
    ASSERT_EQ(some, messages.behind(place, 700));
    some.clear();
    order.append_before(place, 700, some);
    ASSERT_EQ(some, messages.before(place, 700));
  }
  std::set<Slot> left;
  while (!order.empty()) left.insert(order.take_any());
  EXPECT_EQ(left.size(), messages.model.size());
  EXPECT_EQ(order.take_any(), kNoSlot);
}

TEST(AgeOrder, FillsItsBlocksWhenMessagesComeInOrder) {
  AgedMessages messages;
  AgeOrder order(messages.table);
  for (int i = 0; i < 5'000; ++i) order.insert(messages.make(i));
  Slots all;
  order.append_behind(kStart, SIZE_MAX, all);
  EXPECT_EQ(all, messages.behind(kStart, SIZE_MAX));
}

struct Spread {
  std::int64_t ms;  // How far messages are from the order of their sending.
  const char* name;
};
class PagesOfAnyOrder : public testing::TestWithParam<Spread> {};

TEST_P(PagesOfAnyOrder, HoldEveryMessageOnceAlsoWhenThePlaceIsGone) {
  std::mt19937 random(5);
  AgedMessages messages;
  Mailbox box(messages.table, 0, Mailbox::Kind::standard, static_cast<QueueKey>(1));
  const auto enter = [&](int n) {
    // Ten a millisecond: many are of equal age.
    const auto late = static_cast<std::int64_t>(random() % (GetParam().ms + 1));
    box.enter(messages.make(std::max<std::int64_t>(0, n / 10 * 10 - late)), "");
  };
  for (int n = 0; n < 5'000; ++n) enter(n);
  for (int round = 0; round < 300; ++round) {
    const Slot slot = messages.any(random);
    const AgeMark gone = box.age_of(slot);
    box.leave(slot);
    messages.forget(slot);
    ASSERT_EQ(box.page(gone, 40), messages.behind(gone, 40));
    ASSERT_EQ(box.page_before(gone, 40), messages.before(gone, 40));
    if (messages.model.empty()) return;
    const AgeMark here = messages.model.begin()->first;
    ASSERT_EQ(box.page(here, 40), messages.behind(here, 40));
    const AgeMark last = std::prev(messages.model.end())->first;
    ASSERT_EQ(box.page_before(last, 40), messages.before(last, 40));
    enter(5'000 + round);
  }
  ASSERT_EQ(box.page(kStart, 10'000), messages.behind(kStart, 10'000));
  ASSERT_EQ(box.page_before(kEnd, 10'000), messages.before(kEnd, 10'000));
}
INSTANTIATE_TEST_SUITE_P(Spreads, PagesOfAnyOrder,
                         testing::Values(Spread{0, "in_order"}, Spread{15, "nearly"},
                                         Spread{5'000, "in_none"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(PagesOfOneMoment, MessagesOfOneMomentThatComeInAnotherOrderAreNotPassedOver) {
  AgedMessages messages;
  Mailbox box(messages.table, 0, Mailbox::Kind::standard, static_cast<QueueKey>(1));
  Slots slots;
  for (int i = 0; i < 4; ++i) slots.push_back(messages.make(7));
  for (const std::size_t i : {2u, 0u, 3u, 1u}) box.enter(slots[i], "");
  const Slots first = box.page(kStart, 2);
  EXPECT_EQ(first, (Slots{slots[0], slots[1]}));
  EXPECT_EQ(box.page(box.age_of(first.back()), 2), (Slots{slots[2], slots[3]}));
}

}  // namespace
}  // namespace redrive::queue
