#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Dead letters put aside, taken back and corrected.

namespace redrive::engine {
namespace {

struct Bin : DeadLetterWorld {
  Result<std::size_t> discard(const std::vector<queue::MessageKey>& which) {
    return dead_letters().bin.discard(
        identity_of("dead"), which, {.name = "ada", .reason = "spam"});
  }
  Result<std::size_t> restore(const std::vector<queue::MessageKey>& which) {
    return dead_letters().bin.restore(identity_of("dead"), which, {.name = "bob", .reason = {}});
  }
  std::vector<Peeked> peek_bin() {
    auto page = dead_letters().peek.bin_page(identity_of("dead"), {}, 100);
    return page ? std::move(page->messages) : std::vector<Peeked>();
  }
};

TEST_F(Bin, TakesWhatIsDiscardedAndGivesItBack) {
  make_dead(3);
  const auto all = keys("dead");
  EXPECT_EQ(discard({all[0], all[2]}).value(), 2u);
  EXPECT_EQ(keys("dead"), std::vector{all[1]});
  ASSERT_EQ(peek_bin().size(), 2u);
  EXPECT_EQ(peek_bin()[0].events.back().actor, "ada");
  EXPECT_EQ(peek_bin()[0].events.back().reason, "spam");
  EXPECT_EQ(peek_bin()[0].events.back().from, identity_of("dead").arn());
  expect_restart_changes_nothing();
  EXPECT_EQ(restore({all[2]}).value(), 1u);
  EXPECT_EQ(peek_bin().size(), 1u);
  EXPECT_EQ(peek("dead").back().events.back().actor, "bob");
  EXPECT_EQ(peek("dead").back().receive_count, 1u);  // As it was.
  EXPECT_EQ(world.receive("dead"), (Bodies{"m1", "m2"}));
  expect_restart_changes_nothing();
}

TEST_F(Bin, LeavesAloneWhatAConsumerHoldsAndWhatIsNotThere) {
  make_dead(2);
  const auto all = keys("dead");
  ASSERT_EQ(world.receive("dead", 1, seconds(30)).size(), 1u);
  const auto missing = static_cast<queue::MessageKey>(999);
  EXPECT_EQ(discard({all[0], missing, all[1]}).value(), 1u);
  EXPECT_EQ(discard({all[1]}).value(), 0u);  // Twice.
  EXPECT_EQ(restore({all[0], missing}).value(), 0u);
  remove_last("dead");
  EXPECT_EQ(size("dead"), 0u);
}

TEST_F(Bin, IsNoQueueForAnybodyElse) {
  make_dead(1);
  ASSERT_TRUE(discard(keys("dead")));
  auto received = engine().receive(bin_of(identity_of("dead")), {.max = 1}, Duration::zero(), {});
  EXPECT_EQ(received.answer->error().code, ErrorCode::queue_does_not_exist);
  EXPECT_FALSE(world.try_send("dead!bin", "m").has_value());
}

TEST_F(Bin, IsNotMadeByLooking) {
  const auto before = world.journal.appended();
  EXPECT_TRUE(peek_bin().empty());
  EXPECT_EQ(world.journal.appended(), before);
  EXPECT_FALSE(dead_letters().peek.bin_page(identity_of("nowhere"), {}, 1).has_value());
}

TEST_F(Bin, KeepsForAWeekWhateverTheQueueKeeps) {
  make_dead(1);
  const auto all = keys("dead");
  world.pass(std::chrono::days(3));
  ASSERT_EQ(discard(all).value(), 1u);
  world.pass(std::chrono::days(6));
  EXPECT_EQ(peek_bin().size(), 1u);
  world.pass(std::chrono::days(1));
  EXPECT_TRUE(peek_bin().empty());
  EXPECT_EQ(restore(all).value(), 0u);
}

TEST_F(Bin, EndsHandlesAndGroupsAndGivesThemAnew) {
  make_dead(1);
  group();
  const auto all = keys("dead");
  ASSERT_EQ(world.receive("dead", 1, Duration::zero()).size(), 1u);
  const std::string old = world.last_handles[0];
  ASSERT_TRUE(discard(all));
  EXPECT_EQ(only_group().count, 0u);
  ASSERT_TRUE(restore(all));
  group();
  EXPECT_EQ(only_group().count, 1u);
  const std::string_view handle = old;
  ASSERT_TRUE(engine().remove(identity_of("dead"), std::span(&handle, 1)).has_value());
  EXPECT_EQ(size("dead"), 1u);
}

TEST_F(Bin, OfAFifoQueueGivesBackBehindTheRestOfTheGroup) {
  world.create("line.fifo", fifo_settings());
  for (int i = 0; i < 3; ++i) world.send("line.fifo", "m" + std::to_string(i));
  const auto all = keys("line.fifo");
  const auto line = identity_of("line.fifo");
  ASSERT_EQ(dead_letters().bin.discard(line, std::span(all).first(1), {}).value(), 1u);
  ASSERT_EQ(dead_letters().bin.restore(line, std::span(all).first(1), {}).value(), 1u);
  EXPECT_EQ(world.receive("line.fifo"), (Bodies{"m1", "m2", "m0"}));
  expect_restart_changes_nothing();
}

// ---- Edits.

struct Edits : Bin {
  std::string stored_with(const Peeked& peeked, std::string_view body) {
    std::string old(peeked.body.size, '\0');
    EXPECT_TRUE(engine().read_body(peeked.body, old.data()).has_value());
    store::StoredMessage message = store::decode_message(old).value();
    message.contents.body = body;
    std::string tail;
    store::encode_tail(tail, message.contents);
    message.tail = tail;
    message.tail_crc = crc32c(tail);
    std::string stored;
    store::encode_message_head(stored, message);
    return stored + tail;
  }
  Result<void> edit(const Peeked& peeked, std::string_view body, const std::string& to = {}) {
    const std::string stored = stored_with(peeked, body);
    std::optional<QueueIdentity> destination;
    if (!to.empty()) destination = identity_of(to);
    return dead_letters().bin.edit(
        identity_of("dead"),
        {.key = peeked.mark.key, .of = peeked.body, .stored = stored, .destination = destination},
        {.name = "ada", .reason = "typo"});
  }
};

TEST_F(Edits, GiveOtherContentsToTheSameMessage) {
  make_dead(1);
  group();
  ASSERT_TRUE(edit(peek("dead").at(0), "corrected"));
  const auto edited = peek("dead").at(0);
  EXPECT_EQ(edited.events.back().actor, "ada");
  EXPECT_EQ(edited.events.back().reason, "typo");
  EXPECT_EQ(edited.history->events.back().kind, queue::LineageEvent::Kind::edited);
  EXPECT_EQ(edited.failure_group.size(), 32u);
  expect_restart_changes_nothing();
  EXPECT_EQ(world.receive("dead"), Bodies{"corrected"});
}

TEST_F(Edits, RedriveInTheSameStep) {
  make_dead(1);
  ASSERT_TRUE(dead_letters().bin.discard(identity_of("dead"), {}, {}));  // The bin is there.
  const auto before = world.journal.appended();
  ASSERT_TRUE(edit(peek("dead").at(0), "corrected", "others"));
  EXPECT_EQ(world.journal.appended(), before + 1);
  EXPECT_EQ(size("dead"), 0u);
  EXPECT_EQ(peek("others").at(0).history->redrives, 1u);
  expect_restart_changes_nothing();
  EXPECT_EQ(world.receive("others"), Bodies{"corrected"});
}

TEST_F(Edits, LeaveTheOriginalInTheBin) {
  make_dead(1);
  const auto seen = peek("dead").at(0);
  ASSERT_TRUE(edit(seen, "corrected", "others"));
  ASSERT_EQ(peek_bin().size(), 1u);
  const auto original = peek_bin().at(0);
  EXPECT_NE(original.mark.key, seen.mark.key);
  EXPECT_NE(original.history->message_id, seen.history->message_id);  // Both may be archived.
  EXPECT_EQ(original.history->events.back().kind, queue::LineageEvent::Kind::replaced);
  EXPECT_EQ(original.events.back().actor, "ada");
  EXPECT_EQ(original.errors.back().type, "Broken");
  EXPECT_EQ(original.history->attempts_total, 1u);
  expect_restart_changes_nothing();
  succeed_all("others");  // The copy was no better, say: the original is still there.
  EXPECT_EQ(restore({original.mark.key}).value(), 1u);
  EXPECT_EQ(peek("dead").at(0).dead_letter_source, identity_of("orders").arn());
  EXPECT_EQ(world.receive("dead"), Bodies{"m0"});
  expect_restart_changes_nothing();
}

TEST_F(Edits, OfAJobLeaveTheirOriginalsInTheBin) {
  world.send("orders", R"({"n": 1})");
  world.send("orders", "no JSON");
  fail_all("orders");
  start({.patch = R"([{"op": "add", "path": "/store", "value": 7}])"});
  for (int i = 0; i < 5; ++i) {
    world.pass(std::chrono::seconds(1));
    engine().tick();
  }
  EXPECT_EQ(size("dead"), 1u);  // What could not be patched stays as it is.
  ASSERT_EQ(peek_bin().size(), 1u);
  EXPECT_EQ(restore({peek_bin().at(0).mark.key}).value(), 1u);
  EXPECT_EQ(world.receive("dead"), (Bodies{"no JSON", R"({"n": 1})"}));
  expect_restart_changes_nothing();
}

TEST_F(Edits, OfWhatHasChangedOrIsHeldAreRefused) {
  make_dead(2);
  const auto seen = peek("dead");
  ASSERT_TRUE(edit(seen[0], "first"));
  EXPECT_EQ(edit(seen[0], "second").error().code, ErrorCode::resource_not_found);
  ASSERT_EQ(world.receive("dead", 10, seconds(30)).size(), 2u);
  EXPECT_EQ(edit(seen[1], "held").error().code, ErrorCode::resource_not_found);
  remove_last("dead");
  EXPECT_EQ(edit(seen[1], "gone").error().code, ErrorCode::resource_not_found);
}

TEST_F(Edits, WithNowhereToGoChangeNothing) {
  make_dead(1);
  world.create("line.fifo", fifo_settings());
  const auto seen = peek("dead").at(0);
  const auto before = world.journal.appended();
  EXPECT_FALSE(edit(seen, "x", "nowhere").has_value());
  EXPECT_EQ(edit(seen, "x", "line.fifo").error().code, ErrorCode::invalid_parameter_value);
  EXPECT_EQ(world.journal.appended(), before);
  EXPECT_EQ(world.receive("dead"), Bodies{"m0"});
}

}  // namespace
}  // namespace redrive::engine
