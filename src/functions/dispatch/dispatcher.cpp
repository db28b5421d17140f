#include "functions/dispatch/dispatcher.h"
#include "core/catalogue/queues.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace redrive::dispatch {
namespace {

constexpr std::size_t kWorkersMax = 16;
constexpr std::chrono::milliseconds kStopLook{10};
constexpr std::size_t kQueuesPerTurn = 500;

// Retriers are part of the scope.
auto compared(const Plan& plan) {
  const functions::Mapping& m = plan.mapping;
  return std::tie(plan.scope,
                  plan.spec->revision,
                  m.queue_arn,
                  m.function_arn,
                  m.batch_size,
                  m.window,
                  m.report_item_failures,
                  m.filters,
                  m.concurrency_max,
                  m.pollers_min,
                  m.pollers_max,
                  m.bisect,
                  m.retries_max,
                  m.age_max,
                  m.on_success,
                  m.on_failure);
}

}  // namespace

Dispatcher::Dispatcher(Parts parts, Hooks hooks, Options options)
    : definitions_(std::move(parts.definitions)),
      world_(new World{
          .engine = parts.engine,
          .invoker = parts.invoker,
          .buckets = parts.buckets,
          .log = hooks.log ? std::move(hooks.log) : [](std::string) {},
          .strand = Strand(options.mode, std::move(hooks.sync_wanted)),
          .workers = Workers(kWorkersMax),
          .ids = SeededIds(parts.engine.turn([](engine::Turn& turn) { return turn.ids().bits(); })),
          .secret = parts.engine.turn([](engine::Turn& turn) { return turn.state().secret(); }),
          .concurrency_max = options.concurrency_max,
          .processes_max = options.processes_max,
          .async_sent = [this](std::string arn) { wake_async(arn); },
          .reload = [this] { reload(); },
          .ran = std::move(hooks.ran),
          .measured = parts.measured,
          .outgoing = std::move(parts.outgoing),
          .waits_for_sync = options.wait_for_sync}) {}

Dispatcher::~Dispatcher() {
  stop(std::chrono::milliseconds::zero());
}

void Dispatcher::reload() {
  world_->strand.post([this] {
    if (!stopping_) adopt(definitions_());
  });
}

void Dispatcher::adopt(Definitions definitions) {
  std::erase_if(retired_, [](const auto& poller) { return !poller->busy(); });
  known_ = std::move(definitions);
  adopt_mappings(known_.mappings);
  adopt_functions();
  Stats now;
  for (const auto& [id, runner] : mappings_) now.mappings[id] = runner->stats();
  for (const auto& [arn, runner] : async_) now.functions[arn] = runner->stats();
  MutexLock lock(stats_mutex_);
  std::erase_if(retiring_, [](const auto& entry) { return !entry.second->engaged; });
  stats_ = std::move(now);
}

// Null if the mapping is disabled or its function does not exist.
std::shared_ptr<const Plan> Dispatcher::plan_of(const functions::Mapping& mapping) {
  const auto function = known_.functions.find(mapping.function_arn);
  const auto version = known_.versions.find(mapping.function_arn);
  const bool found = function != known_.functions.end() || version != known_.versions.end();
  if (!mapping.enabled || !found) return nullptr;
  auto plan = make_plan(mapping,
                        version != known_.versions.end() ? version->second : function->second.spec);
  if (plan) return *std::move(plan);
  world_->log("mapping " + mapping.id + " cannot run: " + plan.error().message);
  return nullptr;
}

void Dispatcher::adopt_mappings(const std::vector<functions::Mapping>& mappings) {
  auto former = std::exchange(mappings_, {});
  for (const functions::Mapping& mapping : mappings) {
    auto plan = plan_of(mapping);
    if (plan == nullptr) continue;
    const auto known = former.find(mapping.id);
    if (known == former.end() || known->second->plan().queue != plan->queue) {
      auto runner = std::make_shared<MappingRunner>(world_, std::move(plan));
      mappings_.emplace(mapping.id, runner);
      runner->poll();
      continue;
    }
    const auto& runner = known->second;
    if (compared(runner->plan()) != compared(*plan)) runner->adopt(std::move(plan));
    mappings_.insert(former.extract(known));
  }
  for (auto& [id, runner] : former) {
    runner->retire();
    const MutexLock lock(stats_mutex_);
    retiring_.emplace(id, runner->stats());
    retired_.push_back(std::move(runner));
  }
}

bool Dispatcher::is_engaged(const std::string& mapping) const {
  const MutexLock lock(stats_mutex_);
  const auto [first, last] = retiring_.equal_range(mapping);
  return stats_.mappings.contains(mapping) ||
         std::any_of(first, last, [](const auto& entry) { return entry.second->engaged.load(); });
}

void Dispatcher::adopt_functions() {
  for (auto at = async_.begin(); at != async_.end();) {
    const auto function = known_.functions.find(at->first);
    if (function != known_.functions.end()) {
      at->second->adopt(function->second);
      ++at;
      continue;
    }
    at->second->halt();
    retired_.push_back(std::move(at->second));
    at = async_.erase(at);
  }
  forget_orphans();
  // Events may have been waiting since before the last restart.
  for (const auto& [arn, entry] : known_.functions) {
    const bool waits = world_->engine.turn(
        [&](engine::Turn& turn) { return turn.state().find(async_queue_of(entry.id)) != nullptr; });
    if (waits) wake_async(arn);
    world_->engine.give_way();
  }
}

// Deletes the events of functions that no longer exist: a later function of the same name is a
// different one. Functions still in the catalogue may just be unable to run at the moment.
void Dispatcher::forget_orphans() {
  queue::QueueIdentity after;
  while (world_->engine.turn([&](engine::Turn& turn) {
    std::vector<queue::QueueKey> orphans;
    const auto& queues = turn.state().queues();
    auto at = queues.upper_bound(after);
    for (std::size_t i = 0; at != queues.end() && i < kQueuesPerTurn; ++at, ++i) {
      after = at->first;
      const auto function = function_of_async_queue(after);
      if (function && turn.state().find_entry(queue::EntryKind::function,
                                              unqualified(*function).arn()) == nullptr)
        orphans.push_back(at->second->key);
    }
    const bool more = at != queues.end();
    catalogue::delete_queues(turn, orphans);
    return more;
  })) {
    world_->engine.give_way();
  }
}

void Dispatcher::wake_async(const std::string& function_arn) {
  if (!stopping_ && !known_.functions.contains(function_arn)) {
    // The first event for a version or an alias.
    return adopt(definitions_());
  }
  const auto function = known_.functions.find(function_arn);
  if (stopping_ || function == known_.functions.end() || async_.contains(function_arn)) return;
  auto runner = std::make_shared<AsyncRunner>(world_, function->second);
  async_.emplace(function_arn, runner);
  {
    MutexLock lock(stats_mutex_);
    stats_.functions[function_arn] = runner->stats();
  }
  runner->poll();
}

void Dispatcher::note_synced(engine::Sequence synced) {
  world_->synced = synced;
  if (!world_->sync_awaited.exchange(false)) return;
  world_->strand.post([this] {
    for (const auto& [id, runner] : mappings_) runner->synced();
    for (const auto& [arn, runner] : async_) runner->synced();
    for (const auto& runner : retired_) runner->synced();
  });
}

Result<engine::Sequence> Dispatcher::invoke_async(const functions::FunctionId& function,
                                                  const runtime::Invocation& event) {
  const engine::Sequence after = TRY(send_event(world_->engine, function, event));
  world_->counted(function.arn())->async_received.add();
  world_->strand.post([this, arn = function.arn()] { wake_async(arn); });
  return after;
}

bool Dispatcher::busy() const {
  const auto is_busy = [](const auto& entry) { return entry.second->busy(); };
  return std::ranges::any_of(mappings_, is_busy) || std::ranges::any_of(async_, is_busy) ||
         std::ranges::any_of(retired_, [](const auto& poller) { return poller->busy(); });
}

void Dispatcher::retire_all() {
  stopping_ = true;
  for (const auto& [id, runner] : mappings_) runner->retire();
  for (const auto& [arn, runner] : async_) runner->halt();
}

void Dispatcher::report_idle(std::promise<void>& idle) {
  if (!busy()) return idle.set_value();
  world_->strand.after(kStopLook, [this, &idle] { report_idle(idle); });
}

void Dispatcher::stop(std::chrono::milliseconds patience) {
  if (std::exchange(stopped_, true)) return;
  std::promise<void> idle;
  world_->strand.post([&] {
    retire_all();
    report_idle(idle);
  });
  world_->strand.finish([&] { idle.get_future().wait_for(patience); });
  world_->workers.stop();
}

Dispatcher::Stats Dispatcher::stats() const {
  MutexLock lock(stats_mutex_);
  return stats_;
}

}  // namespace redrive::dispatch
