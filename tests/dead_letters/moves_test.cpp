#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Messages moved to another queue by those who received them.

namespace redrive::engine {
namespace {

struct Moves : DeadLetterWorld {
  // What the message behind a handle would be with another body.
  std::string stored_with(const std::string& handle, std::string_view body) {
    const std::string_view view = handle;
    const auto found = dead_letters().moves.delivered(identity_of("dead"), std::span(&view, 1));
    const queue::BodyRef old = found->messages.at(0)->body;
    std::string bytes(old.size, '\0');
    EXPECT_TRUE(engine().read_body(old, bytes.data()).has_value());
    const store::StoredMessage message = store::decode_message(bytes).value();
    store::MessageContents contents = message.contents;
    contents.body = body;
    return store::encode_message(message, contents);
  }
  queue::BodyRef body_of(const std::string& handle, const std::string& queue = "dead") {
    const std::string_view view = handle;
    const auto found = dead_letters().moves.delivered(identity_of(queue), std::span(&view, 1));
    return found->messages.at(0) ? found->messages[0]->body : queue::BodyRef{};
  }
  Move move(const std::string& handle, const std::string& to = "orders",
            const std::string& from = "dead") {
    return {.handle = handle,
            .destination = identity_of(to),
            .of = body_of(handle, from),
            .stored = {},
            .delay = {}};
  }
  std::vector<Result<Uuid>> run(const std::vector<Move>& moves, const std::string& from = "dead") {
    return dead_letters()
        .moves.move(identity_of(from), moves, {.name = "ada", .reason = "redrive worker"})
        .value();
  }
};

TEST_F(Moves, TakeWhatIsHeldAndChangeItInOneRecord) {
  make_dead(2);
  ASSERT_EQ(world.receive("dead", 10, seconds(30)), (Bodies{"m0", "m1"}));
  const auto handles = world.last_handles;
  const std::string changed = stored_with(handles[1], "changed");
  std::vector<Move> moves = {move(handles[0]), move(handles[1], "others")};
  moves[1].stored = changed;
  world.pass(seconds(5));
  const auto before = world.journal.appended();
  const auto done = run(moves);
  EXPECT_EQ(world.journal.appended(), before + 1);
  EXPECT_EQ(size("dead"), 0u);
  const Peeked moved = peek("others").at(0);
  EXPECT_EQ(moved.history->message_id, done.at(1).value());
  EXPECT_EQ(moved.history->redrives, 1u);
  EXPECT_EQ(moved.receive_count, 0u);
  EXPECT_EQ(moved.events.back().actor, "ada");
  EXPECT_EQ(moved.events.back().reason, "redrive worker");
  EXPECT_EQ(moved.history->attempts.back().end, queue::AttemptEnd::released);
  EXPECT_EQ(moved.history->attempts.back().duration_ms, 5'000u);
  EXPECT_EQ(peek("orders").at(0).history->events.size(), 2u);  // Died, and moved: no edit.
  expect_restart_changes_nothing();
  EXPECT_EQ(world.receive("orders"), Bodies{"m0"});
  EXPECT_EQ(world.receive("others"), Bodies{"changed"});
}

// Every arrival has a place of its own, by which selections and FIFO groups are in order.
TEST_F(Moves, OfOneRecordHaveSequenceNumbersOfTheirOwn) {
  make_dead(5);
  ASSERT_EQ(world.receive("dead", 10, seconds(30)).size(), 5u);
  const std::uint64_t last = number(state().last_key());
  std::vector<Move> moves;
  for (const std::string& handle : world.last_handles) moves.push_back(move(handle));
  const auto before = world.journal.appended();
  for (const auto& done : run(moves)) EXPECT_TRUE(done.has_value());
  EXPECT_EQ(world.journal.appended(), before + 1);
  std::vector<std::uint64_t> sequences;
  for (const Peeked& peeked : peek("orders")) sequences.push_back(peeked.history->sequence);
  EXPECT_EQ(sequences, (std::vector{last + 1, last + 2, last + 3, last + 4, last + 5}));
  EXPECT_EQ(number(state().last_key()), last + 5);
  expect_restart_changes_nothing();
}

TEST_F(Moves, HappenOnce) {
  make_dead(2);
  ASSERT_EQ(world.receive("dead", 10, seconds(30)).size(), 2u);
  const auto handles = world.last_handles;
  const auto done = run({move(handles[0]), move(handles[0])});
  EXPECT_TRUE(done[0].has_value());
  EXPECT_EQ(done[1].error().code, ErrorCode::resource_not_found);
  EXPECT_EQ(run({move(handles[0])})[0].error().code, ErrorCode::resource_not_found);
  EXPECT_EQ(size("orders"), 1u);
  world.pass(seconds(31));
  ASSERT_EQ(world.receive("dead", 1, seconds(30)).size(), 1u);
  // Somebody else has it now.
  EXPECT_EQ(run({move(handles[1])})[0].error().code, ErrorCode::resource_not_found);
  EXPECT_TRUE(run({move(world.last_handles[0])})[0].has_value());
  EXPECT_EQ(size("orders"), 2u);
}

TEST_F(Moves, WakeWhoWaitsAndDelayWhoShallWait) {
  make_dead(2);
  ASSERT_EQ(world.receive("dead", 10, seconds(30)).size(), 2u);
  const auto handles = world.last_handles;
  const auto waiting = world.wait("orders", seconds(20));
  Move late = move(handles[0]);
  late.delay = seconds(10);
  ASSERT_TRUE(run({late})[0].has_value());
  EXPECT_FALSE(waiting->ended);
  EXPECT_EQ(peek("orders").at(0).phase, queue::Phase::delayed);
  expect_restart_changes_nothing();
  const auto again = world.wait("orders", seconds(20), 1);
  ASSERT_TRUE(run({move(handles[1])})[0].has_value());
  EXPECT_TRUE(again->ended_with({"m1"}));
  const auto last = world.wait("orders", seconds(20), 1);
  world.pass(seconds(10));
  EXPECT_TRUE(last->ended_with({"m0"}));
}

TEST_F(Moves, OfOneDoNotHinderThoseOfOthers) {
  make_dead(3);
  world.create("line.fifo", fifo_settings());
  ASSERT_EQ(world.receive("dead", 10, seconds(30)).size(), 3u);
  const auto handles = world.last_handles;
  Move outdated = move(handles[2]);
  ++outdated.of.offset;
  const auto done = run({move(handles[0], "nowhere"),
                         move(handles[0], "line.fifo"),
                         outdated,
                         move("no handle"),
                         move(handles[1])});
  EXPECT_EQ(done[0].error().code, ErrorCode::queue_does_not_exist);
  EXPECT_EQ(done[1].error().code, ErrorCode::invalid_parameter_value);
  EXPECT_EQ(done[2].error().code, ErrorCode::resource_not_found);
  EXPECT_EQ(done[3].error().code, ErrorCode::receipt_handle_is_invalid);
  EXPECT_TRUE(done[4].has_value());
  EXPECT_EQ(size("dead"), 2u);
  EXPECT_EQ(size("orders"), 1u);
}

TEST_F(Moves, OfFifoQueuesNeedAHandleThatHoldsAndKeepTheGroup) {
  world.create("line.fifo", fifo_settings());
  world.create("back.fifo", fifo_settings());
  for (int i = 0; i < 3; ++i) world.send("line.fifo", "m" + std::to_string(i));
  ASSERT_EQ(world.receive("line.fifo", 2, seconds(30)).size(), 2u);
  const auto handles = world.last_handles;
  const auto done =
      run({move(handles[0], "back.fifo", "line.fifo"), move(handles[1], "back.fifo", "line.fifo")},
          "line.fifo");
  EXPECT_TRUE(done[0] && done[1]);
  EXPECT_EQ(world.receive("line.fifo", 10, seconds(30)), Bodies{"m2"});
  EXPECT_EQ(world.receive("back.fifo", 10, seconds(30)), (Bodies{"m0", "m1"}));
  const std::string held = world.last_handles[0];
  world.pass(seconds(31));
  EXPECT_EQ(run({move(held, "line.fifo", "back.fifo")}, "back.fifo")[0].error().code,
            ErrorCode::invalid_parameter_value);
  expect_restart_changes_nothing();
}

}  // namespace
}  // namespace redrive::engine
