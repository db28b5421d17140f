#include "sim/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/digest.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

std::uint64_t seed_now = 0;
int step_now = 0;

Shape choose_shape(Chance& chance) {
  const std::uint32_t scale = 1u << chance.below(3);
  return {.segment_bytes = scale * (8u << 10),
          .tail_cache_bytes = chance.one_in(2) ? 0 : 32u << 10,
          .checkpoint_bytes = static_cast<std::uint64_t>(chance.between(2, 24)) << 10,
          .messages_max = static_cast<std::size_t>(chance.between(10, 80)),
          .body_bytes_max = scale * std::size_t{500}};
}

}  // namespace

Driver::Driver(const Options& options)
    : options_(options),
      chance_(chance_for(options)),
      world_(chance_, choose_shape(chance_), options.replay ? options.replay->seed : options.seed) {
  end_step();
  // Each seed favours some steps and omits some of the rare ones, so that certain combinations
  // occur more often.
  for (const Choice& choice : choices()) {
    static constexpr std::uint64_t kTastes[] = {0, 1, 2, 4};
    const std::uint64_t taste = chance_.pick(kTastes);
    weights_.push_back(choice.weight *
                       (choice.weight < 4 ? taste : std::max<std::uint64_t>(taste, 1)));
    weight_total_ += weights_.back();
  }
}

std::span<const Driver::Choice> Driver::choices() {
  static constexpr Choice kChoices[] = {
      {"create queue", 3, &Driver::create_queue},
      {"delete queue", 1, &Driver::delete_queue},
      {"purge queue", 1, &Driver::purge_queue},
      {"set attributes", 5, &Driver::set_attributes},
      {"set tags", 1, &Driver::set_tags},
      {"start task", 4, &Driver::start_task},
      {"cancel task", 1, &Driver::cancel_task},
      {"reset", 1, &Driver::reset},
      {"send", 30, &Driver::send},
      {"send together", 6, &Driver::send_together},
      {"receive", 30, &Driver::receive},
      {"wait for messages", 6, &Driver::wait_for_messages},
      {"cancel wait", 1, &Driver::cancel_wait},
      {"delete", 16, &Driver::remove},
      {"change visibility", 10, &Driver::change_visibility},
      {"report failure", 14, &Driver::report_failure},
      {"group", 6, &Driver::group},
      {"mark group", 1, &Driver::mark_group},
      {"rule groups", 1, &Driver::rule_groups},
      {"count processed", 2, &Driver::count_processed},
      {"catalogue", 1, &Driver::change_catalogue},
      {"deploy code", 1, &Driver::deploy_code},
      {"try message", 1, &Driver::try_message},
      {"exchange", 2, &Driver::exchange},
      {"start job", 6, &Driver::start_job},
      {"change job", 4, &Driver::change_job},
      {"discard", 3, &Driver::discard},
      {"restore", 3, &Driver::restore},
      {"edit", 4, &Driver::edit},
      {"move held", 4, &Driver::move_held},
      {"archive held", 4, &Driver::archive_held},
      {"doom", 4, &Driver::doom},
      {"unarchive", 5, &Driver::unarchive},
      {"flip bit", 5, &Driver::flip_bit},
      {"list damaged", 2, &Driver::list_damaged},
      {"drop damaged", 2, &Driver::drop_damaged},
      {"retry damaged", 3, &Driver::retry_damaged},
      {"advance time", 20, &Driver::advance_time},
      {"jump wall", 1, &Driver::jump_wall},
      {"tick", 10, &Driver::tick},
      {"sync", 20, &Driver::sync},
      {"maintain", 20, &Driver::maintain},
      {"housekeep", 12, &Driver::housekeep},
      {"read replies", 10, &Driver::read_replies},
      {"replay elsewhere", 1, &Driver::replay_elsewhere},
      {"crash", 1, &Driver::crash},
      {"restart", 1, &Driver::restart},
      {"kill", 1, &Driver::kill},
      {"break later", 1, &Driver::break_later},
      {"fill disk", 1, &Driver::fill_disk},
      {"empty disk", 2, &Driver::empty_disk},
  };
  return kChoices;
}

std::string Driver::where() {
  return fmt::format("seed {} step {}", seed_now, step_now);
}

// A run begins with its setup, which the constructor ends.
Chance Driver::chance_for(const Options& options) {
  Chance chance(options.seed);
  if (options.replay != nullptr) {
    const TracedStep& setup = options.replay->steps.front();
    chance.replay(setup.draws, options.replay->seed_of(setup));
  }
  if (options.record != nullptr) {
    options.record->seed = options.replay != nullptr ? options.replay->seed : options.seed;
    options.record->steps.push_back({.name = std::string(kSetup)});
    chance.record_into(&options.record->steps.back().draws);
  }
  return chance;
}

const Driver::Choice* Driver::find_choice(std::string_view name) {
  const auto found = std::ranges::find(choices(), name, &Choice::name);
  return found == choices().end() ? nullptr : &*found;
}

bool Driver::knows(std::string_view step) {
  return step == kSetup || step == kDrain || find_choice(step) != nullptr;
}

void Driver::begin_step(std::string_view name, const TracedStep* traced) {
  step_now = step_;
  if (options_.replay != nullptr && traced != nullptr) {
    chance_.replay(traced->draws, options_.replay->seed_of(*traced));
  }
  if (options_.record == nullptr) return;
  options_.record->steps.push_back({.name = std::string(name)});
  chance_.record_into(&options_.record->steps.back().draws);
}

void Driver::end_step() {
  chance_.record_into(nullptr);
}

void Driver::note(const std::string& line) {
  trace_ = crc32c(line, static_cast<std::uint32_t>(trace_));
  if (options_.record != nullptr && line.starts_with("  ")) {
    options_.record->steps.back().notes.push_back(line.substr(2));
  }
  if (options_.verbose) fmt::print("{:5} {}\n", step_, line);
}

Verdict Driver::run() {
  seed_now = options_.seed;
  try {
    options_.replay != nullptr ? run_traced(*options_.replay) : run_chosen();
  } catch (const Violation& violation) {
    return {.passed = false,
            .step = step_,
            .invariant = violation.invariant,
            .detail = violation.detail,
            .trace = trace_,
            .totals = world_.totals()};
  }
  return {.passed = true,
          .step = step_,
          .invariant = {},
          .detail = {},
          .trace = trace_,
          .totals = world_.totals()};
}

void Driver::run_chosen() {
  for (int i = 0; i < 6; ++i) perform(*find_choice("create queue"));
  for (step_ = 1; step_ <= options_.steps; ++step_) perform(choose_step());
  drain({});
}

void Driver::run_traced(const Trace& trace) {
  TracedStep last{.name = std::string(kDrain)};
  for (const TracedStep& step : trace.steps) {
    if (step.name == kSetup) continue;
    if (step.name == kDrain) {
      last = step;
      break;
    }
    ++step_;
    perform(*find_choice(step.name), &step);
  }
  drain(last);
}

const Driver::Choice& Driver::choose_step() {
  std::uint64_t at = chance_.below(weight_total_);
  std::size_t chosen = 0;
  while (at >= weights_[chosen]) at -= weights_[chosen++];
  return choices()[chosen];
}

void Driver::perform(const Choice& choice, const TracedStep* traced) {
  begin_step(choice.name, traced);
  tell("{} (record {})", choice.name, world_.journal().appended());
  if (options_.verbose) std::fflush(stdout);
  (this->*choice.step)();
  world_.settle_answers();  // Time may have passed for waiting receives.
  world_.check();
  end_step();
}

std::optional<queue::QueueKey> Driver::choose_queue() {
  std::vector<queue::QueueKey> queues;
  for (const auto& [key, queue] : world_.model().queues()) {
    if (!queue.identity.is_hidden()) queues.push_back(key);
  }
  if (queues.empty()) return std::nullopt;
  return chance_.pick(queues);
}

std::optional<queue::QueueKey> Driver::choose_full_queue() {
  const auto& messages = world_.model().messages();
  if (messages.empty() || chance_.one_in(6)) return choose_queue();
  const queue::QueueKey key = chance_.pick(messages).second.queue;
  return identity_of(key).is_hidden() ? choose_queue() : key;
}

std::optional<queue::QueueKey> Driver::choose_received_queue() {
  if (world_.issued().empty() || chance_.one_in(10)) return choose_queue();
  const queue::QueueKey key = chance_.pick(world_.issued()).handle.queue;
  return world_.model().queues().contains(key) ? key : choose_queue();
}

// Everything due must happen, not merely may.
void Driver::let_policies_act(const std::set<std::string>& but_of) {
  if (world_.disk_fails()) return;
  world_.graveyard().always_takes = true;
  world_.let_pass(world_.time_for_policies());
  world_.policies_have_acted(but_of);
  world_.graveyard().always_takes = false;
}

// Ends all faults and everything in progress.
void Driver::quiet_down() {
  world_.limit_space(std::nullopt);
  let_policies_act(gone_);
  world_.end(Ending::power_lost);
  world_.end(Ending::clean);
  while (world_.disk_fails()) world_.end(Ending::power_lost);  // A restart may plan another fault.
  for (const queue::TaskKey key : unfinished_tasks()) {
    if (world_.model().tasks().at(key).status == queue::TaskStatus::running) continue;
    world_.engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::MoveTaskEnded{key, queue::TaskStatus::cancelled, {}});
    });
    world_.follow(world_.take_records());
  }
  const auto running = [&] {
    return std::ranges::any_of(world_.model().tasks(), [](const auto& entry) {
      return entry.second.status == queue::TaskStatus::running;
    });
  };
  for (int i = 0; running(); ++i) {
    require(i < 2000, "every move task ends", "one still runs");
    world_.clock().advance(Duration(1000));
    world_.tick();
  }
  let_policies_act({});
  world_.check();
}

// Receives and deletes everything: nothing is lost, nothing is left over.
void Driver::drain(const TracedStep& traced) {
  ++step_;
  begin_step(kDrain, &traced);
  tell("drain");
  quiet_down();
  bring_back_all();
  std::vector<queue::QueueKey> queues;
  for (const auto& [key, queue] : world_.model().queues()) {
    if (!queue.identity.is_hidden()) queues.push_back(key);
  }
  for (const queue::QueueKey key : queues) {
    auto settings = world_.model().queues().at(key).settings;
    settings.redrive.reset();
    world_.engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::QueueSettingsChanged{key, settings});
    });
    world_.follow(world_.take_records());
  }
  for (const queue::QueueKey key : queues) drain_queue(key);
  drop_all_damaged();
  forget_settled();
  require(world_.model().messages().empty(), "draining leaves nothing", "messages are left");
  world_.check();
  world_.space_has_come_back();
  world_.sync();
  world_.replay_elsewhere();
  world_.end(Ending::killed);
  end_step();
}

// Messages processed after a redrive are all that is left, and go with their queue.
void Driver::forget_settled() {
  for (const auto& [key, queue] : std::map(world_.model().queues())) {
    if (!queue.identity.is_settled()) continue;
    world_.engine().turn(
        [&, purged = key](engine::Turn& turn) { turn.commit(queue::QueuePurged{purged}); });
    world_.follow(world_.take_records());
    world_.settle_answers();
  }
}

void Driver::drain_queue(queue::QueueKey key) {
  const auto left = [&] {
    const Model& model = world_.model();
    return std::ranges::any_of(model.messages(),
                               [&](const auto& entry) { return entry.second.queue == key; });
  };
  for (int i = 0; left(); ++i) {
    require(i < 1000, "draining leaves nothing", "queue {}", number(key));
    world_.issued().clear();
    receive_once({.queue = key, .max = 10, .visibility = Duration(60'000)}, Duration::zero());
    world_.read_held_replies();
    std::vector<Shown> handles;
    for (const World::Issued& issued : world_.issued()) handles.push_back({issued.handle});
    if (handles.empty()) {
      world_.clock().advance(std::chrono::minutes(5));
    } else {
      remove_with(key, handles);
    }
  }
}

}  // namespace redrive::sim
