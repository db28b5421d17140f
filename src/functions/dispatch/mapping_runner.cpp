#include "functions/dispatch/mapping_runner.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::dispatch {
namespace {

// Concurrent invocations per AWS poller.
constexpr unsigned kInvocationsPerPoller = 10;

// Limits for receiving ahead: what can run within this time, and a number of batches.
constexpr std::chrono::microseconds kAheadTime{20'000};
constexpr std::int64_t kAheadMax = 256;
// With a smaller maxReceiveCount, do not spend receives on messages that only wait.
constexpr std::uint32_t kReceivesToSpare = 3;

Concurrency::Range wanted_range(const functions::Mapping& mapping, unsigned common_max) {
  if (mapping.pollers_max || mapping.pollers_min) {
    const unsigned min = mapping.pollers_min.value_or(2);
    return {.first = min * kInvocationsPerPoller,
            .max = std::max(min, mapping.pollers_max.value_or(200)) * kInvocationsPerPoller};
  }
  return {.first = Concurrency::kFirst, .max = mapping.concurrency_max.value_or(common_max)};
}

// Batches beyond the process limit would only wait for a process.
Concurrency::Range range_of(const Plan& plan, const World& world) {
  Concurrency::Range range = wanted_range(plan.mapping, world.concurrency_max);
  const bool needs_processes = plan.spec->runtime != "http";
  if (needs_processes) range.max = std::min(range.max, world.processes_max);
  return range;
}

}  // namespace

MappingRunner::MappingRunner(std::shared_ptr<World> world, std::shared_ptr<const Plan> plan)
    : Poller(std::move(world)),
      plan_(std::move(plan)),
      concurrency_(range_of(*plan_, this->world())) {
  note_limit();
}

void MappingRunner::adopt(std::shared_ptr<const Plan> plan) {
  assert(plan->queue == plan_->queue);
  plan_ = std::move(plan);
  concurrency_.adopt(range_of(*plan_, world()));
  note_limit();
  // The current receive may not match the new plan.
  interrupt();
  start_ready();
  poll();
}

void MappingRunner::retire() {
  retired_ = true;
  halt();
  give_back(std::exchange(gathering_.load, {}).items);
  for (const Batch& batch : ready_) give_back(batch.load.items);
  ready_.clear();
  note_engaged();
}

void MappingRunner::note_limit() {
  stats_->limit = concurrency_.limit();
  stats_->limit_max = concurrency_.max();
  stats_->slowed = concurrency_.slowed();
  stats_->running = std::min(running_, concurrency_.limit());
  lane_->running_max = concurrency_.limit();
}

unsigned MappingRunner::ahead() const {
  if (!backlog_ || !may_spend_ || run_time_ == run_time_.zero()) return 0;
  const std::int64_t fits = kAheadTime / run_time_ * concurrency_.limit();
  return static_cast<unsigned>(std::min(kAheadMax, fits));
}

std::optional<Poller::Intake> MappingRunner::next_intake() {
  if (retired_ || running_ + ready_.size() >= capacity()) return std::nullopt;
  const Standing standing = look_around();
  if (!standing.defined) {
    world().reload();
    return std::nullopt;
  }
  const std::size_t room =
      plan_->mapping.batch_size -
      std::min<std::size_t>(plan_->mapping.batch_size, gathering_.load.items.size());
  asked_ = std::clamp<std::size_t>(room, 1, queue::kReceiveMax);
  return Intake{.queue = {plan_, &plan_->queue},
                .consumer = plan_->consumer,
                .max = asked_,
                .visibility = standing.visibility,
                .isolated = plan_->isolates()};
}

// A server reset removes mappings without notice, and a new queue of the same name must not be read
// by them.
MappingRunner::Standing MappingRunner::look_around() {
  return world().engine.turn([&](engine::Turn& turn) -> Standing {
    const queue::Queue* const queue = turn.state().find(plan_->queue);
    may_spend_ =
        queue != nullptr && (!queue->settings.redrive ||
                             queue->settings.redrive->receive_count_max >= kReceivesToSpare);
    const auto* const entry = turn.state().find_entry(queue::EntryKind::mapping, plan_->mapping.id);
    return {.defined = entry != nullptr, .visibility = visibility_of(queue, plan_->hold_time())};
  });
}

void MappingRunner::received(const Catch& brought) {
  stats_->polled += brought.outcome.messages.size();
  backlog_ = brought.outcome.messages.size() >= asked_;
  const ReceivedMessages messages(world().engine, brought.outcome);
  gathering_.load.expect(messages.messages().size(), messages.bytes());
  std::vector<queue::ReceiptHandle> filtered;
  bool blocked = false;
  for (const auto& message : messages.messages()) {
    Item item = describe_item(message, world().secret, brought.hold);
    const events::Record& record = records_.describe(message, item.handle);
    if (!events::any_matches(plan_->filters, record)) {
      filtered.push_back(item.receipt);
    } else if (retired_ || blocked) {
      give_back(std::span(&item, 1));
    } else {
      const bool taken = !must_wait(item) && gather(item, record, brought.outcome.after);
      blocked = !taken && is_fifo();  // Keeps the order within groups.
    }
  }
  remove_filtered(filtered);
  const bool at_once = plan_->mapping.window == std::chrono::seconds::zero();
  if (at_once) close_batch();
  start_ready();
}

void MappingRunner::remove_filtered(std::span<const queue::ReceiptHandle> handles) {
  if (handles.empty()) return;
  stats_->filtered_out += handles.size();
  world().note("deleting filtered messages", world().engine.remove_held(plan_->queue, handles));
}

bool MappingRunner::must_wait(const Item& item) {
  const auto due = RunCounts::read(item.retries, plan_->scope).due_seconds;
  if (due == 0) return false;
  const std::int64_t left = std::int64_t{due} - world().engine.now().seconds();
  if (left <= 0) return false;
  item.hold->forget(item.receipt);
  const engine::Engine::VisibilityRequest request{
      item.handle, std::min(std::chrono::seconds(left), queue::kVisibilityTimeoutMax), true};
  world().note("delaying a message",
               world().engine.change_visibility(plan_->queue, std::span(&request, 1)));
  return true;
}

bool MappingRunner::gather(Item& item, const events::Record& record, engine::Sequence after) {
  if (item.isolation.alone) {
    gather_alone(item, record, after);
    return true;
  }
  if (!take(item, record)) {
    close_batch();
    if (is_fifo()) {
      give_back(std::span(&item, 1));
      return false;
    }
    take(item, record);
  }
  if (gathering_.load.items.size() == 1) begin_window();
  gathering_.after = after;
  if (gathering_.load.items.size() >= plan_->mapping.batch_size) close_batch();
  return true;
}

void MappingRunner::gather_alone(Item& item, const events::Record& record, engine::Sequence after) {
  Batch batch{.plan = plan_, .load = {}, .after = after};
  batch.load.add(item, record, plan_->frame);
  batch.load.close(plan_->frame);
  ready_.push_back(std::move(batch));
}

bool MappingRunner::run_alone(const std::shared_ptr<const Plan>& plan, std::vector<Load>& loads) {
  if (retired_) return false;
  for (Load& load : loads) ready_.push_back({.plan = plan, .load = std::move(load)});
  start_ready();
  return true;
}

bool MappingRunner::take(Item& item, const events::Record& record) {
  if (gathering_.load.items.empty()) gathering_.plan = plan_;
  return gathering_.load.add(item, record, gathering_.plan->frame);
}

void MappingRunner::begin_window() {
  ++window_;
  if (plan_->mapping.window == std::chrono::seconds::zero()) return;
  std::weak_ptr<Poller> weak = weak_from_this();
  world().engine.call_at(world().engine.now() + plan_->mapping.window,
                         [weak, window = window_, w = shared_world()] {
                           w->strand.post([weak, window] {
                             if (const auto self = weak.lock())
                               static_cast<MappingRunner&>(*self).window_over(window);
                           });
                         });
}

void MappingRunner::window_over(std::uint64_t window) {
  if (window != window_ || gathering_.load.items.empty()) return;
  interrupt();  // It was requesting as much as fits in this batch.
  close_batch();
  start_ready();
  poll();
}

void MappingRunner::close_batch() {
  if (gathering_.load.items.empty()) return;
  gathering_.load.close(gathering_.plan->frame);
  ready_.push_back(std::exchange(gathering_, {}));
}

void MappingRunner::start_ready() {
  while (!ready_.empty() && running_ < capacity() && world().is_durable(ready_.front().after)) {
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    launch(std::move(batch));
  }
}

void MappingRunner::launch(Batch batch) {
  ++running_;
  note_limit();
  auto self = std::static_pointer_cast<MappingRunner>(shared_from_this());
  std::make_shared<BatchRun>(
      BatchRun::Parts{
          .world = shared_world(),
          .plan = batch.plan,
          .stats = stats_,
          .lane = lane_,
          .run_alone = [self, plan = batch.plan](
                           std::vector<Load>& loads) { return self->run_alone(plan, loads); },
          .done = [self, plan = batch.plan](
                      const BatchRun::Summary& summary) { self->finished(*plan, summary); }},
      std::move(batch.load))
      ->start();
}

void MappingRunner::finished(const Plan& plan, const BatchRun::Summary& summary) {
  const bool all_in_use = running_ >= concurrency_.limit();
  --running_;
  run_time_ =
      run_time_ == run_time_.zero() ? summary.run_time : (run_time_ * 7 + summary.run_time) / 8;
  if (summary.throttled) {
    concurrency_.throttled();
  } else if (summary.function_error && !plan.mapping.report_item_failures) {
    concurrency_.failed();
  } else if (summary.waited_for_process) {
    concurrency_.crowded();
  } else {
    concurrency_.succeeded();
    if (all_in_use) concurrency_.saturated(world().engine.now());
  }
  note_limit();
  start_ready();
  poll();
  note_engaged();
}

void MappingRunner::waited_in_vain() {
  if (running_ > 0) return;
  concurrency_.idle();
  note_limit();
}

// They have not run, so make them visible immediately.
void MappingRunner::give_back(std::span<const Item> items) {
  forget(items);
  std::vector<engine::Engine::VisibilityRequest> requests;
  for (const Item& item : items)
    requests.push_back({item.handle, std::chrono::seconds::zero(), true});
  if (requests.empty()) return;
  world().note("returning messages that have not run",
               world().engine.change_visibility(plan_->queue, requests));
}

}  // namespace redrive::dispatch
