#include "functions/runtime/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "functions/runtime/log_files.h"

namespace redrive::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Interval between checks of running processes.
constexpr milliseconds kTick{100};
// Events are sent ahead only if this many jobs would wait anyway, and only up to what a pipe holds.
constexpr std::size_t kAheadBacklog = 4;
constexpr std::size_t kAheadBytesMax = 16u << 10;
// Handling several responses at once is cheaper than a wake-up for each.
constexpr std::chrono::microseconds kNapMin{50};
constexpr std::chrono::microseconds kNapMax{300};
constexpr std::chrono::minutes kShortageLogInterval{1};

bool is_command(const Job& job) {
  return job.function->runtime == "command";
}

bool is_call(const Job& job) {
  return job.function->runtime == "http";
}

// An error in the function's own code is a function error; a missing prerequisite of the machine is
// not the function's fault.
Outcome outcome_of_start(const Error& error, const std::string& request_id) {
  if (error.code != ErrorCode::resource_not_found) return service_failed(error.message);
  return failed_with(
      {.type = "Runtime.InvalidEntrypoint",
       .message = fmt::format("RequestId: {} Error: {}", request_id, error.message)});
}

template <class Workers>
auto count_in(const Workers& workers, Worker::State state) {
  return static_cast<unsigned>(std::ranges::count(workers, state, &Worker::state));
}

}  // namespace

Fleet::Fleet(const ProcessServices& services)
    : services_(services),
      timer_(services.poller, [this] { tick(); }),
      http_(services.host.options().outgoing) {}

// --- Records ---

std::shared_ptr<FunctionRecord> Fleet::find_record(const std::string& arn) const {
  const MutexLock lock(records_mutex_);
  const auto found = records_.find(arn);
  return found == records_.end() ? nullptr : found->second;
}

std::map<std::string, std::shared_ptr<FunctionRecord>> Fleet::records() const {
  const MutexLock lock(records_mutex_);
  return records_;
}

std::shared_ptr<FunctionRecord> Fleet::record_of(const std::string& arn) {
  const MutexLock lock(records_mutex_);
  auto& record = records_[arn];
  if (record) return record;
  const LogFiles kept(services_.host.options().logs);
  record = std::make_shared<FunctionRecord>(kept.sequence_last(arn));
  return record;
}

void Fleet::forget(const std::string& arn) {
  retire(arn);
  const auto pool = pools_.find(arn);
  const bool is_used =
      pool != pools_.end() && (pool->second.active > 0 || !pool->second.workers.empty());
  if (is_used) return pool->second.record->clear();
  if (pool != pools_.end()) pools_.erase(pool);
  const MutexLock lock(records_mutex_);
  records_.erase(arn);
}

Fleet::Pool& Fleet::pool_of(const std::string& arn) {
  Pool& pool = pools_[arn];
  if (!pool.record) pool.record = record_of(arn);
  return pool;
}

void Fleet::refresh(Pool& pool) {
  pool.record->update([&](FunctionStats& stats) {
    stats.starting = count_in(pool.workers, Worker::State::starting);
    stats.running = pool.active - static_cast<unsigned>(pool.queue.size());
    stats.idle = count_in(pool.workers, Worker::State::waiting);
  });
}

// --- Jobs ---

void Fleet::invoke(Job job) {
  if (enter_lane(job)) admit(std::move(job));
}

bool Fleet::enter_lane(Job& job) {
  if (!job.what.lane) return true;
  LaneUse& lane = lanes_[job.what.lane.get()];
  if (lane.running < job.what.lane->running_max) {
    ++lane.running;
    return true;
  }
  const Lane& told = *job.what.lane;
  lane.waiting.push_back(std::move(job));
  told.waiting = static_cast<unsigned>(lane.waiting.size());
  return false;
}

void Fleet::leave_lane(const Job& job) {
  if (!job.what.lane) return;
  const Lane* const key = job.what.lane.get();
  assert(lanes_[key].running > 0);
  --lanes_[key].running;
  // Looked up in each iteration: a job that is throttled at once also leaves the lane.
  for (auto found = lanes_.find(key); found != lanes_.end(); found = lanes_.find(key)) {
    LaneUse& lane = found->second;
    if (lane.running == 0 && lane.waiting.empty()) {
      lanes_.erase(found);
      return;
    }
    if (lane.waiting.empty() || lane.running >= key->running_max) return;
    Job next = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    key->waiting = static_cast<unsigned>(lane.waiting.size());
    ++lane.running;
    admit(std::move(next));
  }
}

// Jobs in a lane wait for running ones anyway; waiting in a process's pipe saves a round trip to
// us.
void Fleet::offer_ahead(Worker& worker) {
  const Lane* const key = worker.job()->what.lane.get();
  if (key == nullptr) return;
  LaneUse& lane = lanes_.at(key);
  while (worker.takes_ahead() && lane.waiting.size() >= kAheadBacklog &&
         lane.running <= key->running_max) {
    Job& next = lane.waiting.front();
    const bool fits = next.function->arn == worker.function().arn &&
                      next.function->revision == worker.function().revision &&
                      next.what.payload.size() <= kAheadBytesMax;
    if (!fits) break;
    worker.give_ahead(std::move(next));
    lane.waiting.pop_front();
  }
  key->waiting = static_cast<unsigned>(lane.waiting.size());
}

// Half of the estimate: runs may be quicker than usual.
std::chrono::microseconds Fleet::quiet_time() const {
  using std::chrono::microseconds;
  if (!commands_.empty() || !calls_.empty()) return {};
  microseconds least{};
  for (const auto& [arn, pool] : pools_) {
    for (const auto& worker : pool.workers) {
      if (worker->state() == Worker::State::waiting) continue;
      const microseconds time = worker->time_ahead() / 2;
      if (time < kNapMin) return {};
      least = least == microseconds::zero() ? time : std::min(least, time);
    }
  }
  return std::min(least, kNapMax);
}

// Puts jobs back at the front of their queue, in order.
void Fleet::take_back(Pool& pool, std::deque<Job> jobs) {
  for (; !jobs.empty(); jobs.pop_back()) {
    Job& job = jobs.back();
    job.asked = steady_clock::now();
    const Lane* const key = job.what.lane.get();
    auto& line = job.is_admitted ? pool.queue : lanes_[key].waiting;
    line.push_front(std::move(job));
    key->waiting = static_cast<unsigned>(lanes_[key].waiting.size());
  }
}

void Fleet::admit(Job job) {
  job.is_admitted = true;
  if (job.what.admitted) job.what.admitted();
  Pool& pool = pool_of(job.function->arn);
  const auto limit = job.function->concurrency_max;
  ++pool.active;
  if (ending_) return complete(pool, job, service_failed("The server is shutting down."));
  if (limit && pool.active > *limit) {
    return complete(pool, job, throttled("ReservedFunctionConcurrentInvocationLimitExceeded"));
  }
  if (is_call(job)) return start_call(pool, std::move(job));
  if (pool.revision != job.function->revision) retire_others(pool, job.function->revision);
  job.asked = steady_clock::now();
  pool.queue.push_back(std::move(job));
  pump(pool);
}

void Fleet::complete(Pool& pool, const Job& job, Outcome outcome) {
  tell(pool, job, std::move(outcome));
  leave_lane(job);
}

void Fleet::tell(Pool& pool, const Job& job, Outcome outcome) {
  assert(pool.active > 0 && job.is_admitted);
  --pool.active;
  pool.record->update([&](FunctionStats& stats) {
    const bool failed = outcome.kind == Outcome::Kind::function_error;
    const bool was_throttled = outcome.kind == Outcome::Kind::throttled;
    if (!was_throttled) ++stats.invocations;
    if (was_throttled) ++stats.throttles;
    if (failed) ++stats.errors;
    if (failed && outcome.error_type == "Sandbox.Timedout") ++stats.timeouts;
  });
  refresh(pool);
  outcome.waited_for_process = job.waited_for_process;
  job.done(std::move(outcome));
}

void Fleet::pump(Pool& pool) {
  if (ending_) return;
  while (!pool.queue.empty() && hand_over_front(pool)) {
  }
  if (!pool.queue.empty()) start_workers(pool);
  refresh(pool);
}

void Fleet::pump_all() {
  // Completing a job may create pools, but never removes one.
  for (auto& [arn, pool] : pools_) {
    if (!pool.queue.empty()) pump(pool);
  }
}

// Prefers the most recently used process, which is the warmest, so that the others can become idle
// and be ended.
bool Fleet::hand_over_front(Pool& pool) {
  if (is_command(pool.queue.front())) {
    if (!has_process_slot()) {
      note_shortage(pool.queue.front());
      end_idle_process();
      arm(steady_clock::now() + kTick);
      return false;
    }
    start_command(pool);
    return true;
  }
  Worker* best = nullptr;
  for (const auto& worker : pool.workers) {
    const bool fits = worker->state() == Worker::State::waiting &&
                      worker->function().revision == pool.queue.front().function->revision;
    if (fits && (best == nullptr || worker->waiting_since() > best->waiting_since())) {
      best = worker.get();
    }
  }
  if (best == nullptr) return false;
  Job job = std::move(pool.queue.front());
  pool.queue.pop_front();
  best->give(std::move(job));
  offer_ahead(*best);
  arm(best->due());
  arm(steady_clock::now() + kTick);  // Memory must be checked even if no other timer is due.
  return true;
}

// The first job for which no process is starting or about to be ready.
Job* Fleet::find_uncovered(Pool& pool) const {
  const auto now = steady_clock::now();
  std::map<std::string_view, unsigned> coming;
  for (const auto& worker : pool.workers) {
    if (worker->is_coming(now)) ++coming[worker->function().revision];
  }
  for (Job& job : pool.queue) {
    unsigned& left = coming[job.function->revision];
    if (left == 0) return &job;
    --left;
  }
  return nullptr;
}

// Counted once per invocation; logged at most once per interval.
void Fleet::note_shortage(Job& job) {
  if (std::exchange(job.waited_for_process, true)) return;
  ++process_waits_;
  const auto now = steady_clock::now();
  const auto& options = services_.host.options();
  const bool logged =
      shortage_logged_ != SteadyTime() && now - shortage_logged_ < kShortageLogInterval;
  if (logged || !options.warn) return;
  shortage_logged_ = now;
  options.warn(
      fmt::format("all {} function processes are in use and invocations are waiting (the latest is "
                  "of {}); raise function-processes in the table [limits] of the configuration if "
                  "the machine has capacity",
                  options.processes_max,
                  job.function->name));
}

ProcessUse Fleet::process_use() const {
  return {.processes = processes_,
          .processes_max = services_.host.options().processes_max,
          .waits = process_waits_};
}

void Fleet::start_workers(Pool& pool) {
  while (Job* const job = find_uncovered(pool)) {
    if (is_command(*job)) return;
    if (!has_process_slot()) {
      note_shortage(*job);
      end_idle_process();
      arm(steady_clock::now() + kTick);
      return;
    }
    start_worker(pool, job->function);
  }
}

void Fleet::start_worker(Pool& pool, std::shared_ptr<const FunctionSpec> function) {
  auto worker = std::make_shared<Worker>(
      services_, static_cast<Worker::Manager&>(*this), std::move(function), pool.record);
  const auto started = worker->start();
  if (!started) {
    services_.poller.post([worker] {});
    const Job job = std::move(pool.queue.front());
    pool.queue.pop_front();
    return complete(pool, job, outcome_of_start(started.error(), job.what.request_id));
  }
  ++processes_;
  pool.record->update([](FunctionStats& stats) { ++stats.cold_starts; });
  pool.workers.push_back(std::move(worker));
  arm(steady_clock::now() + kTick);
}

void Fleet::start_command(Pool& pool) {
  Job job = std::move(pool.queue.front());
  pool.queue.pop_front();
  auto run = std::make_shared<CommandRun>(
      services_, std::move(job), pool.record, [this](CommandRun& ended, Outcome outcome) {
        if (ending_) return;
        const auto found = std::ranges::find(commands_, &ended, &std::shared_ptr<CommandRun>::get);
        services_.poller.post([kept = *found] {});
        commands_.erase(found);
        --processes_;
        complete(pool_of(ended.job().function->arn), ended.job(), std::move(outcome));
        pump_all();
      });
  const auto started = run->start();
  if (!started) {
    services_.poller.post([run] {});
    const Outcome outcome = outcome_of_start(started.error(), run->job().what.request_id);
    return complete(pool, run->job(), outcome);
  }
  ++processes_;
  commands_.push_back(run);
  arm(run->due());
  arm(steady_clock::now() + kTick);
}

void Fleet::start_call(Pool& pool, Job job) {
  if (calls_.size() >= services_.host.options().http_calls_max) {
    return complete(pool, job, throttled("ConcurrentInvocationLimitExceeded"));
  }
  const std::string id = job.what.request_id;
  const std::string arn = job.function->arn;
  const std::uint64_t call = ++call_last_;
  pool.record->add_line(id, start_line(id, job.function->version));
  http_.start(job.function, job.what, [this, arn, call](Outcome outcome) {
    services_.poller.post(
        [this, arn, call, outcome = std::move(outcome)] { end_call(arn, call, outcome); });
  });
  calls_.emplace(call, std::move(job));
  refresh(pool);
}

void Fleet::end_call(const std::string& arn, std::uint64_t call, Outcome outcome) {
  auto node = calls_.extract(call);
  if (node.empty()) return;  // Ended by shut_down().
  Pool& pool = pool_of(arn);
  const Job& job = node.mapped();
  const std::string& id = job.what.request_id;
  InvocationLog log;
  log.append_line(start_line(id, job.function->version));
  const std::string report = report_line(id, outcome.duration, job.function->memory_mb, 0);
  add_end(log, *pool.record, id, report);
  outcome.log = log.take();
  complete(pool, job, std::move(outcome));
}

// --- Workers ---

void Fleet::on_ready(Worker& worker) {
  Pool& pool = pool_of(worker);
  pump(pool);
  if (worker.state() != Worker::State::waiting) return;
  const bool crowded =
      pool.workers.size() > 1 && !has_process_slot() && is_another_pool_starved(pool);
  if (worker.is_retired() || crowded) {
    worker.retire();
    arm(worker.due());
  } else {
    arm(worker.waiting_since() + services_.host.options().idle_time_max);
  }
  refresh(pool);
}

void Fleet::on_finished(Worker& worker, Job job, Outcome outcome) {
  Pool& pool = pool_of(worker);
  if (worker.ahead().empty()) return complete(pool, job, std::move(outcome));
  tell(pool, job, std::move(outcome));
  // The next job takes over its slot in the same lane.
  Job& next = worker.ahead().front();
  next.is_admitted = true;
  ++pool.active;
  if (next.what.admitted) next.what.admitted();
}

void Fleet::on_went_on(Worker& worker) {
  offer_ahead(worker);
  arm(worker.due());
}

void Fleet::on_returned(Worker& worker, std::deque<Job> jobs) {
  Pool& pool = pool_of(worker);
  take_back(pool, std::move(jobs));
  pump(pool);
}

void Fleet::on_init_failed(Worker& worker) {
  Pool& pool = pool_of(worker);
  const auto same = [&](const Job& job) {
    return job.function->revision == worker.function().revision;
  };
  const auto found = std::ranges::find_if(pool.queue, same);
  if (found == pool.queue.end()) return;
  const Job job = std::move(*found);
  pool.queue.erase(found);
  complete(pool, job, worker.init_outcome(job));
}

void Fleet::on_gone(Worker& worker) {
  if (ending_) return;  // Already being freed.
  Pool& pool = pool_of(worker);
  const auto found = std::ranges::find(pool.workers, &worker, &std::shared_ptr<Worker>::get);
  assert(found != pool.workers.end());
  services_.poller.post([kept = *found] {});
  pool.workers.erase(found);
  --processes_;
  refresh(pool);
  pump_all();
}

void Fleet::retire(const std::string& arn) {
  const auto found = pools_.find(arn);
  if (found == pools_.end()) return;
  for (const auto& worker : found->second.workers) {
    worker->retire();
    arm(worker->due());
  }
  refresh(found->second);
}

void Fleet::retire_others(Pool& pool, const std::string& revision) {
  pool.revision = revision;
  for (const auto& worker : pool.workers) {
    if (worker->function().revision == revision) continue;
    worker->retire();
    arm(worker->due());
  }
}

bool Fleet::is_another_pool_starved(const Pool& except) const {
  return std::ranges::any_of(pools_, [&](const auto& entry) {
    const Pool& pool = entry.second;
    return &pool != &except && !pool.queue.empty() && pool.workers.empty();
  });
}

// Ends the process that has been idle for longest, unless one is already ending.
void Fleet::end_idle_process() {
  std::shared_ptr<Worker> longest;
  for (const auto& [arn, pool] : pools_) {
    for (const auto& worker : pool.workers) {
      if (worker->state() == Worker::State::ending) return;
      if (worker->state() != Worker::State::waiting) continue;
      if (!longest || worker->waiting_since() < longest->waiting_since()) longest = worker;
    }
  }
  if (!longest) return;
  longest->retire();
  arm(longest->due());
}

// --- Time ---

void Fleet::arm(SteadyTime due) {
  if (due >= timer_due_) return;
  timer_due_ = due;
  timer_.set(due);
}

void Fleet::tick() {
  timer_due_ = SteadyTime::max();
  const auto now = steady_clock::now();
  const auto idle_time_max = services_.host.options().idle_time_max;
  bool busy = false;
  for (auto& [arn, pool] : pools_) {
    throttle_late(pool, now);
    busy |= !pool.queue.empty();
    for (const auto& worker : pool.workers) {
      worker->check(now);
      const bool waits = worker->state() == Worker::State::waiting;
      if (waits && now - worker->waiting_since() >= idle_time_max) worker->retire();
      if (waits) arm(worker->waiting_since() + idle_time_max);
      busy |= !waits;
      arm(worker->due());
    }
  }
  for (const auto& run : commands_) {
    run->check(now);
    arm(run->due());
    busy = true;
  }
  if (busy) arm(now + kTick);
  pump_all();  // An expected process may not have become ready.
}

// Throttles invocations for which no process is being started. Jobs in a lane wait instead: the
// visibility of their messages is extended meanwhile, and a throttled batch would only come back.
void Fleet::throttle_late(Pool& pool, SteadyTime now) {
  const std::size_t served = count_in(pool.workers, Worker::State::starting);
  std::vector<Job> late;
  const auto queue_time_max = services_.host.options().queue_time_max;
  for (std::size_t at = served; at < pool.queue.size();) {
    Job& job = pool.queue[at];
    const bool is_late = !job.what.lane && now - job.asked >= queue_time_max;
    if (!is_late) {
      ++at;
      continue;
    }
    late.push_back(std::move(job));
    pool.queue.erase(pool.queue.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (const Job& job : late) complete(pool, job, throttled("ConcurrentInvocationLimitExceeded"));
}

void Fleet::shut_down() {
  ending_ = true;
  std::vector<Job> jobs;
  for (auto& [arn, pool] : pools_) {
    for (auto& job : pool.queue) jobs.push_back(std::move(job));
    pool.queue.clear();
    for (const auto& worker : pool.workers) {
      std::deque<Job> given = worker->abandon();
      for (; !given.empty() && given.front().is_admitted; given.pop_front())
        jobs.push_back(std::move(given.front()));
      take_back(pool, std::move(given));  // They end when those before them leave the lane.
    }
  }
  // The command may still exit by itself.
  for (const auto& run : commands_) jobs.push_back(run->job());
  for (auto& [call, job] : calls_) jobs.push_back(std::move(job));
  calls_.clear();
  for (const Job& job : jobs) {
    complete(pool_of(job.function->arn), job, service_failed("The server is shutting down."));
  }
  // Freed by a posted task: tasks posted earlier may still refer to them.
  for (auto& [arn, pool] : pools_) {
    services_.poller.post([kept = std::exchange(pool.workers, {})] {});
  }
  services_.poller.post([kept = std::exchange(commands_, {})] {});
}

}  // namespace redrive::runtime
