#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/core/engine/engine_world.h"
#include "tests/core/store/describe_state.h"

// What the tests about dead letters share: "orders" and "others", whose dead letters go to "dead".
namespace redrive::engine {

struct DeadLetterWorld : testing::Test {
  using Bodies = EngineWorld::Bodies;
  EngineWorld world;

  explicit DeadLetterWorld(std::uint32_t receive_count_max = 1) {
    world.create("dead");
    QueueSettings settings;
    settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), receive_count_max};
    world.create("orders", settings);
    world.create("others", settings);
  }

  Engine& engine() { return world.engine(); }
  DeadLetters& dead_letters() { return world.dead_letters(); }
  const queue::State& state() { return world.state(); }
  queue::Queue& queue(const std::string& name) { return *world.state().find(identity_of(name)); }

  Result<void> report(const std::string& name, const std::string& handle, queue::ErrorText error,
                      queue::Disposition disposition = queue::Disposition::dead_letter,
                      seconds retry_after = seconds(0)) {
    return engine().report_failure(identity_of(name),
                                   {.handle = handle,
                                    .error = std::move(error),
                                    .disposition = disposition,
                                    .retry_after = retry_after});
  }
  // Everything that can be received from a queue fails, for that reason.
  void fail_all(const std::string& name, const queue::ErrorText& error = {.type = "Broken"}) {
    while (!world.receive(name, 10).empty()) {
      for (const std::string& handle : std::vector(world.last_handles)) {
        ASSERT_TRUE(report(name, handle, error).has_value());
      }
    }
  }
  void succeed_all(const std::string& name) {
    while (!world.receive(name, 10).empty()) remove_last(name);
  }
  void remove_last(const std::string& name) {
    const std::vector<std::string_view> handles(world.last_handles.begin(),
                                                world.last_handles.end());
    ASSERT_TRUE(engine().remove(identity_of(name), handles).has_value());
  }
  // Sends and lets fail: dead letters named name0, name1, ...
  void make_dead(int count, const std::string& name = "m",
                 const queue::ErrorText& error = {.type = "Broken"}) {
    for (int i = 0; i < count; ++i) world.send("orders", name + std::to_string(i));
    fail_all("orders", error);
  }
  void group() {
    while (dead_letters().groups.group_some(100) > 0) {
    }
  }

  std::size_t size(const std::string& name) {
    return engine().turn(
        [&](Turn& turn) { return turn.state().mailbox(**turn.queue(identity_of(name))).size(); });
  }
  std::vector<Peeked> peek(const std::string& name) {
    auto page = dead_letters().peek.page(identity_of(name), {}, 1'000);
    return page ? std::move(page->messages) : std::vector<Peeked>();
  }
  std::vector<queue::MessageKey> keys(const std::string& name) {
    std::vector<queue::MessageKey> found;
    for (const Peeked& peeked : peek(name)) found.push_back(peeked.mark.key);
    return found;
  }
  const queue::FailureGroup& only_group() {
    EXPECT_EQ(state().groups().size(), 1u);
    return state().groups().begin()->second;
  }
  void commit(queue::Change change) {
    engine().turn([&](Turn& turn) { turn.commit(std::move(change)); });
  }

  // Starts a job on all that is in "dead" now.
  void start(queue::TaskPlan plan, std::uint32_t rate = 0, const std::string& source = "dead") {
    engine().turn([&](Turn& turn) {
      const queue::Queue& from = **turn.queue(identity_of(source));
      const std::string arn = identity_of(source).arn();
      plan.frozen_at = number(turn.state().last_key());
      turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                         .id = turn.ids().uuid(),
                                         .source = from.key,
                                         .source_arn = arn,
                                         .destination_arn = {},
                                         .rate = rate,
                                         .to_move = turn.state().mailbox(from).size(),
                                         .plan = plan});
    });
  }
  const queue::MoveTask& job() { return state().tasks().rbegin()->second; }
  void change_job(queue::TaskStatus status, std::uint32_t rate = 0) {
    commit(queue::MoveTaskChanged{
        .task = job().key, .status = status, .rate = rate, .stage = job().stage, .note = {}});
  }
  std::string counts() { return store::describe_counts(job().counts); }

  // Everything durable, as text.
  std::string described() {
    world.state().advance_all(engine().now());
    while (world.state().bury(1'000)) {
    }
    return store::describe_state(state(), store::Order::all_queues);
  }
  // A server that starts from the journal knows what this one knew.
  void expect_restart_changes_nothing() {
    const std::string before = described();
    world.restart();
    EXPECT_EQ(described(), before);
  }
};

}  // namespace redrive::engine
