#include "functions/dispatch/batch_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/queue/receive.h"
#include "functions/events/event_document.h"
#include "functions/events/retry_policy.h"

namespace redrive::dispatch {
namespace {

using Kind = runtime::Outcome::Kind;

constexpr std::string_view kInvalidResponse = "InvalidBatchResponse";
constexpr std::chrono::milliseconds kFirstBackoff{100};
constexpr std::chrono::milliseconds kLongestBackoff{10'000};

// Moves the matching items to the returned list.
template <class Predicate>
std::vector<Item> take_out(std::vector<Item>& items, Predicate fits) {
  const auto middle = std::stable_partition(
      items.begin(), items.end(), [&](const Item& item) { return !fits(item); });
  std::vector<Item> taken(std::make_move_iterator(middle), std::make_move_iterator(items.end()));
  items.erase(middle, items.end());
  return taken;
}

// Takes out all but the first item of each group.
std::vector<Item> take_out_behind(std::vector<Item>& items) {
  std::set<std::string_view> seen;
  std::vector<Item> first;
  std::vector<Item> behind;
  first.reserve(items.size());  // Keeps the strings referenced by `seen` in place.
  for (Item& item : items) {
    if (seen.contains(item.group)) {
      behind.push_back(std::move(item));
    } else {
      first.push_back(std::move(item));
      seen.insert(first.back().group);
    }
  }
  items = std::move(first);
  return behind;
}

// The end of the log, as much as an attempt keeps: a batch may have thousands of messages.
std::string kept_log(const runtime::Outcome& outcome) {
  constexpr std::size_t kBytes = 2048;
  const std::string_view log = outcome.log;
  return std::string(log.substr(log.size() - std::min(log.size(), kBytes)));
}

queue::ErrorText error_of(const runtime::Outcome& outcome) {
  return {.type = outcome.error_type,
          .message = outcome.error_message,
          .stack = outcome.stack,
          .fingerprint = {},
          .log = kept_log(outcome)};
}

// A batch's message ids as text.
class IdTexts {
 public:
  explicit IdTexts(const std::vector<Item>& items) : texts_(items.size()) {
    views_.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].message_id.format(texts_[i].data());
      views_.emplace_back(texts_[i].data(), texts_[i].size());
    }
  }
  std::span<const std::string_view> views() const { return views_; }

 private:
  std::vector<std::array<char, 36>> texts_;
  std::vector<std::string_view> views_;
};

std::shared_ptr<const ItemError> item_error(events::ItemCause cause, const std::string& log) {
  if (cause.source == events::ItemCause::Source::none) return nullptr;
  wire::ReportedError& error = cause.error;
  if (error.type.empty()) error.type = events::kBatchItemFailure;
  return std::make_shared<ItemError>(
      ItemError{.text = {.type = std::move(error.type),
                         .message = std::move(error.message),
                         .stack = std::move(error.stack),
                         .fingerprint = {},
                         .log = log},
                .from_log = cause.source == events::ItemCause::Source::log});
}

// A run has one trace header: that of its messages, if they all have the same.
std::string common_trace(const std::vector<Item>& items) {
  const bool same = std::ranges::all_of(
      items, [&](const Item& item) { return item.trace == items.front().trace; });
  return same && !items.empty() ? items.front().trace : std::string();
}

}  // namespace

BatchRun::BatchRun(Parts parts, Load load)
    : parts_(std::move(parts)),
      plan_(*parts_.plan),
      event_(plan_.payload(std::move(load.event))),
      whole_(load.items.size()) {
  waiting_.push_back(std::move(load.items));
}

void BatchRun::step() {
  running_ = true;
  while (!waiting_.empty()) {
    part_ = std::move(waiting_.back());
    waiting_.pop_back();
    attempts_ = 0;
    sift();
    if (!part_.empty()) return invoke();
  }
  running_ = false;
  finish_if_over();
}

void BatchRun::finish_if_over() {
  if (running_ || deliveries_ > 0 || std::exchange(over_, true)) return;
  parts_.done(summary_);
}

void BatchRun::sift() {
  if (!blocked_.empty())
    let_go(take_out(part_, [&](const Item& item) { return blocked_.contains(item.group); }));
  if (!plan_.mapping.age_max) return;
  const Timestamp oldest = parts_.world->wall() - *plan_.mapping.age_max;
  expire(take_out(part_, [&](const Item& item) { return item.sent_wall <= oldest; }));
}

void BatchRun::invoke() {
  request_id_ = parts_.world->ids.uuid().text();
  parts_.stats->batches += 1;
  parts_.stats->invoked += part_.size();
  if (attempts_ == 0) measure_ages();
  parts_.world->invoker.invoke(
      plan_.spec,
      {.request_id = request_id_,
       .payload = event_of_part(),
       .client_context = {},
       .trace = common_trace(part_),
       .invoked_arn = plan_.mapping.function_arn,
       .lane = parts_.lane},
      [self = shared_from_this()](runtime::Outcome outcome) {
        self->outcome_ = std::move(outcome);
        Strand& strand = self->parts_.world->strand;
        auto work = [self] { self->answered(std::exchange(self->outcome_, {})); };
        self->is_hurried() ? strand.post(std::move(work)) : strand.post_lazily(std::move(work));
      });
}

runtime::Payload BatchRun::event_of_part() const {
  if (part_.size() == whole_) return event_;
  std::vector<std::string_view> records;
  for (const Item& item : part_) records.push_back(record_of(item));
  return plan_.payload(events::event_document(records, plan_.frame));
}

void BatchRun::measure_ages() {
  World& world = *parts_.world;
  if (world.measured == nullptr) return;
  const auto counted = world.measured->mappings.of(plan_.mapping.id);
  const Timestamp wall = world.wall();
  for (const Item& item : part_) {
    const Duration age = std::max(Duration::zero(), wall - item.sent_wall);
    counted->age.record(static_cast<std::uint64_t>(age.count()));
  }
}

void BatchRun::answered(const runtime::Outcome& outcome) {
  if (parts_.world->ran)
    parts_.world->ran({plan_.queue, plan_.spec->name, request_id_, part_, outcome});
  if (outcome.kind == Kind::throttled || outcome.kind == Kind::service_error)
    return not_run(outcome);
  summary_.run_time += outcome.duration;
  summary_.waited_for_process |= outcome.waited_for_process;
  ran(outcome);
  step();
}

// Not a failure, and no attempt is counted: retry until the visibility timeout of the messages
// ends.
void BatchRun::not_run(const runtime::Outcome&) {
  summary_.throttled = true;
  parts_.stats->throttles += 1;
  const QueueFacts now = facts();
  const bool over = std::ranges::any_of(
      part_, [&](const Item& item) { return plain_delay(item, now) <= Duration::zero(); });
  if (over) {
    let_go(std::exchange(part_, {}), true);
    return step();
  }
  const auto pause = std::min(kLongestBackoff, kFirstBackoff * (1 << std::min(attempts_++, 10)));
  parts_.world->strand.after(pause, [self = shared_from_this()] { self->invoke(); });
}

events::BatchResult BatchRun::judge(const runtime::Outcome& outcome) const {
  if (outcome.kind == Kind::function_error) return events::judge_whole_batch(part_.size(), false);
  if (!plan_.mapping.report_item_failures) return events::judge_whole_batch(part_.size(), true);
  return events::judge_batch(outcome.payload, IdTexts(part_).views());
}

bool BatchRun::explain_raised(const runtime::Outcome& outcome) {
  auto causes = events::attached_causes(outcome.payload, IdTexts(part_).views());
  for (std::size_t i = 0; i < causes.size(); ++i)
    part_[i].error = item_error(std::move(causes[i]), kept_log(outcome));
  return !causes.empty();
}

void BatchRun::explain_named(const runtime::Outcome& outcome, const std::vector<bool>& failed) {
  auto causes = events::item_causes(outcome.payload, outcome.log, IdTexts(part_).views(), failed);
  for (std::size_t i = 0; i < causes.size(); ++i)
    if (failed[i]) part_[i].error = item_error(std::move(causes[i]), kept_log(outcome));
}

void BatchRun::ran(const runtime::Outcome& outcome) {
  const events::BatchResult result = judge(outcome);
  if (outcome.kind == Kind::function_error) {
    summary_.function_error = true;
    // Every message has an error of its own, so each has been judged individually.
    if (explain_raised(outcome))
      return fail_named(std::exchange(part_, {}), {.error = error_of(outcome)}, outcome);
    return failed({.error = error_of(outcome)}, outcome);
  }
  if (!result.fault.empty()) {
    return failed({.error = {.type = std::string(kInvalidResponse),
                             .message = result.fault,
                             .stack = {},
                             .fingerprint = {},
                             .log = kept_log(outcome)}},
                  outcome);
  }
  if (result.all_succeeded()) return succeed(std::exchange(part_, {}), outcome);
  explain_named(outcome, result.failed);
  std::vector<Item> good;
  std::vector<Item> bad;
  for (std::size_t i = 0; i < part_.size(); ++i)
    (result.failed[i] ? bad : good).push_back(std::move(part_[i]));
  part_.clear();
  succeed(std::move(good), outcome);
  const queue::ErrorText error{.type = std::string(events::kBatchItemFailure),
                               .message = "The function reported the message as failed.",
                               .stack = {},
                               .fingerprint = {},
                               .log = kept_log(outcome)};
  fail_named(std::move(bad), {.error = error, .by_item = true}, outcome);
}

void BatchRun::failed(const Failure& failure, const runtime::Outcome& outcome) {
  if (plan_.mapping.bisect && part_.size() > 1) return split();
  Failure whole = failure;
  whole.company = static_cast<std::uint16_t>(std::min<std::size_t>(part_.size(), UINT16_MAX));
  if (part_.size() > 1 && plan_.isolates()) give_last_chance(whole);
  fail_items(std::exchange(part_, {}), whole, outcome);
}

void BatchRun::give_last_chance(const Failure& failure) {
  const QueueFacts now = facts();
  std::vector<Item> last = take_out(part_, [&](const Item& item) {
    return (item.isolation.last && now.has_dead_letter_queue) ||
           fate_of(item, failure, now).kind != Fate::Kind::retry;
  });
  if (last.empty()) return;
  std::vector<Load> loads;
  for (const Item& item : last) loads.push_back(load_of(item));
  if (!parts_.run_alone(loads)) postpone(last, failure);
}

void BatchRun::postpone(const std::vector<Item>& items, const Failure& failure) {
  const QueueFacts now = facts();
  for (const Item& item : items) {
    const Duration delay = plain_delay(item, now);
    const RunCounts counts = RunCounts::read(item.retries, plan_.scope);
    report(item, {.delay = delay, .counts = counts}, failure, delay);
  }
}

Load BatchRun::load_of(Item item) const {
  const std::string_view record = record_of(item);
  Load load{.items = {}, .event = events::event_document({&record, 1}, plan_.frame)};
  item.record_at = plan_.frame.head.size();
  load.items.push_back(std::move(item));
  return load;
}

// The first half runs first, to keep the order within FIFO groups.
void BatchRun::split() {
  const auto middle = part_.begin() + static_cast<std::ptrdiff_t>(part_.size() / 2);
  std::vector<Item> second(std::make_move_iterator(middle), std::make_move_iterator(part_.end()));
  part_.erase(middle, part_.end());
  waiting_.push_back(std::move(second));
  waiting_.push_back(std::exchange(part_, {}));
}

BatchRun::QueueFacts BatchRun::facts() const {
  return parts_.world->engine.turn([&](engine::Turn& turn) -> QueueFacts {
    const auto found = turn.queue(plan_.queue);
    if (!found) return {};
    const queue::Queue& queue = **found;
    return {.visibility = queue.settings.visibility_timeout,
            .fifo = queue.settings.is_fifo(),
            .has_dead_letter_queue = queue::dead_letter_target(turn.state(), queue) != nullptr};
  });
}

Duration BatchRun::plain_delay(const Item& item, const QueueFacts& now) const {
  const auto& mapping = plan_.mapping;
  const Duration busy = plan_.spec->timeout + mapping.window;
  const bool longer = mapping.window > std::chrono::seconds::zero() && busy > now.visibility;
  const Duration timeout = longer ? plan_.hold_time() : now.visibility;
  return std::max(Duration::zero(), item.received_at + timeout - parts_.world->engine.now());
}

// The messages become visible when their visibility timeout ends, or together with the failed
// message of their group. Nothing is counted.
void BatchRun::let_go(std::vector<Item> items, bool not_run) {
  if (items.empty()) return;
  const QueueFacts now = facts();
  const auto delay_of = [&](const Item& item) {
    const auto blocked = blocked_.find(item.group);
    if (blocked == blocked_.end()) return plain_delay(item, now);
    return std::max(Duration::zero(), blocked->second - parts_.world->engine.now());
  };
  forget(items);
  std::vector<engine::Engine::VisibilityRequest> requests;
  for (const Item& item : items) {
    requests.push_back(
        {item.handle, std::chrono::ceil<std::chrono::seconds>(delay_of(item)), not_run});
  }
  parts_.world->note("returning the messages of a batch",
                     parts_.world->engine.change_visibility(plan_.queue, requests));
}

void BatchRun::succeed(std::vector<Item> items, const runtime::Outcome& outcome) {
  if (items.empty()) return;
  if (plan_.on_success) {
    send_away(*plan_.on_success,
              std::move(items),
              {.condition = "Success", .invoke_count = 1, .outcome = &outcome},
              [self = shared_from_this()](const std::vector<Item>& back) { self->let_go(back); });
    return;
  }
  const std::vector<queue::ReceiptHandle> receipts = forget(items);
  parts_.world->note("deleting processed messages",
                     parts_.world->engine.remove_held(plan_.queue, receipts));
  parts_.stats->deleted += items.size();
}

// For a FIFO group a function reports the failed message and those behind it, which it has not
// tried: rules that count runs apply only to the first.
void BatchRun::fail_named(std::vector<Item> items, const Failure& failure,
                          const runtime::Outcome& outcome) {
  if (!plan_.counts_runs() || !facts().fifo) return fail_items(std::move(items), failure, outcome);
  std::vector<Item> behind = take_out_behind(items);
  fail_items(std::move(items), failure, outcome);
  for (const Item& item : behind) blocked_.try_emplace(item.group, parts_.world->engine.now());
  let_go(std::move(behind));
}

// The names that retriers compare: the handler's error for the message, then its error for the
// batch. An error found in the log is not certain enough to decide by.
std::vector<std::string_view> BatchRun::error_names(const Item& item, const Failure& failure) {
  if (!item.error || item.error->from_log) return {failure.error.type};
  return {item.error->text.type, failure.error.type};
}

void BatchRun::fail_items(std::vector<Item> items, const Failure& failure,
                          const runtime::Outcome& outcome) {
  parts_.stats->failed += items.size();
  const QueueFacts now = facts();
  World& world = *parts_.world;
  std::vector<Fate> fates;
  std::map<std::string, Duration> group_delay;  // The rest of a group becomes visible together.
  for (const Item& item : items) {
    fates.push_back(fate_of(item, failure, now));
    if (!now.fifo || fates.back().kind != Fate::Kind::retry) continue;
    Duration& delay = group_delay[item.group];
    delay = std::max(delay, fates.back().delay);
    blocked_[item.group] = world.engine.now() + delay;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (group_delay.contains(items[i].group)) fates[i].delay = group_delay[items[i].group];
  carry_out(std::move(items), std::move(fates), failure, outcome);
}

Fate BatchRun::fate_of(const Item& item, const Failure& failure, const QueueFacts& now) {
  World& world = *parts_.world;
  return decide_fate(plan_,
                     {.error_names = error_names(item, failure),
                      .counts = RunCounts::read(item.retries, plan_.scope),
                      .has_dead_letter_queue = now.has_dead_letter_queue,
                      .visibility = plain_delay(item, now),
                      .now = world.engine.now(),
                      .random01 = world.random01()});
}

void BatchRun::carry_out(std::vector<Item> items, std::vector<Fate> fates, const Failure& failure,
                         const runtime::Outcome& outcome) {
  const QueueFacts now = facts();
  std::map<std::uint32_t, std::vector<Item>> discarded;  // By number of runs.
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (fates[i].kind == Fate::Kind::discard) {
      discarded[fates[i].counts.runs].push_back(std::move(items[i]));
    } else {
      report(items[i], fates[i], failure, plain_delay(items[i], now));
    }
  }
  for (auto& [runs, group] : discarded) {
    send_away(*plan_.on_failure,
              std::move(group),
              {.condition = "RetryAttemptsExhausted",
               .invoke_count = runs,
               .outcome = &outcome,
               .by_item = failure.by_item},
              [self = shared_from_this(), failure](const std::vector<Item>& back) {
                self->postpone(back, failure);
              });
  }
}

// Records the error and applies the fate. A message that cannot be dead-lettered stays in its
// queue.
bool BatchRun::report(const Item& item, const Fate& fate, const Failure& failure,
                      Duration plain_delay) {
  item.hold->forget(item.receipt);
  engine::Engine::FailureReport report{.handle = item.handle,
                                       .error = item.error ? item.error->text : failure.error,
                                       .disposition = queue::Disposition::retry,
                                       .retry_after = fate.delay,
                                       .retries = {},
                                       .company = failure.company};
  if (plan_.counts_runs()) report.retries = fate.counts.stored(plan_.scope);
  if (fate.kind == Fate::Kind::dead_letter) {
    report.disposition = queue::Disposition::dead_letter;
    if (parts_.world->engine.report_failure(plan_.queue, report)) {
      parts_.stats->dead_lettered += 1;
      return true;
    }
    report.disposition = queue::Disposition::retry;
    report.retry_after = plain_delay;
  }
  if (parts_.world->engine.report_failure(plan_.queue, report)) return true;
  // The handler may have changed the visibility itself; record the failure anyway.
  report.disposition = queue::Disposition::none;
  return parts_.world->engine.report_failure(plan_.queue, report).has_value();
}

// One record per number of runs. There was no invocation, so the record gets an id of its own.
void BatchRun::send_expired(std::vector<Item> items) {
  std::map<std::uint32_t, std::vector<Item>> by_runs;
  for (Item& item : items) by_runs[runs_before(item)].push_back(std::move(item));
  for (auto& [runs, group] : by_runs) {
    request_id_ = parts_.world->ids.uuid().text();
    send_away(
        *plan_.on_failure,
        std::move(group),
        {.condition = "RecordAgeExceeded", .invoke_count = runs},
        [self = shared_from_this()](const std::vector<Item>& back) { self->let_go(back, true); });
  }
}

// If runs are not counted, every earlier receive counts as one.
std::uint32_t BatchRun::runs_before(const Item& item) const {
  if (plan_.counts_runs()) return RunCounts::read(item.retries, plan_.scope).runs;
  return std::max(item.receive_count, 1u) - 1;
}

// Too old to be run. Without a destination they stay, and the queue's own rules apply.
void BatchRun::expire(std::vector<Item> items) {
  if (items.empty()) return;
  if (plan_.on_failure) return send_expired(std::move(items));
  const QueueFacts now = facts();
  const Failure failure{.error = {.type = "RecordAgeExceeded",
                                  .message = "The message was too old for the mapping.",
                                  .stack = {},
                                  .fingerprint = {},
                                  .log = {}}};
  for (const Item& item : items) {
    const Fate fate{.kind = Fate::Kind::dead_letter,
                    .counts = RunCounts::read(item.retries, plan_.scope)};
    report(item, fate, failure, plain_delay(item, now));
  }
}

}  // namespace redrive::dispatch
