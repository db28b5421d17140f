#include "observe/alarms/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/catalogue/documents.h"
#include "core/queue/hidden_queues.h"
#include "observe/alarms/evaluate.h"
#include "observe/alarms/history_data.h"

namespace redrive::alarms {
namespace {

using queue::EntryKind;
using std::chrono::seconds;

constexpr seconds kShortPace{10};
constexpr seconds kLongPace{60};
constexpr std::string_view kMemoryPrefix = "dead-letter-alarm/";
constexpr std::size_t kMemoriesPerTurn = 256;
constexpr std::string_view kDamagePrefix = "damage-alarm/";
constexpr std::string_view kTestAlarm = "test";

AlarmKey key_of(const Alarm& alarm) {
  return {alarm.account, alarm.region, alarm.name};
}

std::string state_summary(AlarmState from, AlarmState to) {
  return fmt::format("Alarm updated from {} to {}", name_of(from), name_of(to));
}

// A history item of a built-in alarm.
HistoryItem own_item(AlarmState before, const Condition& after) {
  return {.wall = {},
          .kind = HistoryItem::Kind::state,
          .summary = fmt::format("{}: {}", state_summary(before, after.state), after.reason),
          .data = {},
          .delivery = std::nullopt};
}

HistoryItem state_item(const Condition& before, const Condition& after) {
  return {.wall = {},
          .kind = HistoryItem::Kind::state,
          .summary = state_summary(before.state, after.state),
          .data = state_change_data(before, after),
          .delivery = std::nullopt};
}

std::string joined(const std::vector<std::string>& sentences) {
  return fmt::format("{}", fmt::join(sentences, " "));
}

// Where damaged messages were found. Events of asynchronous invocations are reported with their
// function, because their queue is hidden.
struct DamagePlace {
  std::string name;
  std::string_view kind;       // As in `redrive KIND damaged ls`.
  std::string_view dimension;  // As CloudWatch names it.
  std::string_view messages;   // "messages in", "events of"
  std::string_view one_message;

  std::string all() const { return fmt::format("{} {}", messages, name); }
  std::string counted(std::size_t count) const {
    return fmt::format("{} damaged {} {}", count, count == 1 ? one_message : messages, name);
  }
};

DamagePlace damage_place(const queue::QueueIdentity& queue) {
  if (auto function = queue::function_of_async(queue.name))
    return {*std::move(function), "function", "FunctionName", "events of", "event of"};
  return {queue.name, "queue", "QueueName", "messages in", "message in"};
}

}  // namespace

Alarm dead_letter_alarm(const DeadLetterReading& reading, const DeadLetterMemory& memory) {
  Alarm alarm{.account = reading.identity.account,
              .region = reading.identity.region,
              .name = "dead letters in " + reading.identity.name,
              .description = "Automatic alarm of every dead-letter queue.",
              .dimensions = {{"QueueName", reading.identity.name}},
              .space = "AWS/SQS",
              .metric = "ApproximateNumberOfMessagesVisible",
              .statistic = "Maximum",
              .period = kShortPace,
              .rule = {.missing = MissingData::not_breaching},
              .actions_enabled = !memory.off};
  alarm.condition.state = memory.alarming() ? AlarmState::alarm : AlarmState::ok;
  alarm.condition.updated = alarm.condition.transitioned = Timestamp(memory.since_ms);
  return alarm;
}

Alarm damage_alarm(const queue::QueueIdentity& queue, const DeadLetterMemory& memory) {
  const DamagePlace place = damage_place(queue);
  Alarm alarm{.account = queue.account,
              .region = queue.region,
              .name = "damaged " + place.all(),
              .description = fmt::format("Automatic alarm of every {}.", place.kind),
              .dimensions = {{std::string(place.dimension), place.name}},
              .space = "Redrive",
              .metric = "DamagedMessages",
              .statistic = "Maximum",
              .period = kShortPace,
              .rule = {.missing = MissingData::not_breaching}};
  alarm.condition.state = memory.messages ? AlarmState::alarm : AlarmState::ok;
  alarm.condition.updated = alarm.condition.transitioned = Timestamp(memory.since_ms);
  return alarm;
}

void Watcher::look() {
  const queue::Stamp stamp = parts_.engine.turn([](engine::Turn& turn) { return turn.stamp(); });
  const MutexLock lock(mutex_);
  std::map<AlarmKey, std::int64_t> judged;
  for (const Alarm& alarm : alarms_.all()) {
    const seconds pace = alarm.period < kLongPace ? kShortPace : kLongPace;
    const std::int64_t stretch = stamp.now.seconds() / pace.count();
    const auto last = judged_.find(key_of(alarm));
    judged[key_of(alarm)] = stretch;
    if (last == judged_.end() || last->second != stretch) {
      judge_alarm(alarm, stamp.now, stamp.wall);
    }
  }
  judged_ = std::move(judged);
  look_at_dead_letters(stamp.now, stamp.wall);
  parts_.notifier.look();
}

void Watcher::judge_alarm(const Alarm& alarm, Timestamp now, Timestamp wall) {
  const auto statistic = metrics::Statistic::parse(alarm.statistic);
  if (!statistic) return;
  // Whole periods, the last of which has just ended; short periods in steps of ten seconds.
  const std::int64_t grain = Duration(std::min<seconds>(alarm.period, kLongPace)).count();
  const Timestamp to(now.ms() / grain * grain);
  const auto range = static_cast<std::int64_t>(range_of(alarm.rule));
  const auto points = metrics::read_statistic(
      parts_.history, alarm.line(), *statistic, to - alarm.period * range, to, alarm.period);
  const auto state = evaluate(alarm.rule, points);
  if (!state || *state == alarm.condition.state) return;
  const Timestamp last_wall = to - alarm.period + (wall - now);
  const Explanation told =
      explain(alarm, *state, {.points = points, .last_wall = last_wall, .now_wall = wall});
  move_to(alarm,
          {.state = *state,
           .reason = told.reason,
           .reason_data = told.data,
           .updated = wall,
           .transitioned = wall});
}

Target Watcher::target_of(const std::string& text) const {
  // A target in the server's own configuration is trusted wherever it is used.
  const bool trusted = std::ranges::find(parts_.notify, text) != parts_.notify.end();
  return Target::parse(text, trusted);
}

std::vector<Target> Watcher::own_targets() const {
  std::vector<Target> targets;
  for (const std::string& target : parts_.notify) targets.push_back(Target::parse(target, true));
  return targets;
}

void Watcher::record(const AlarmKey& key, const AlarmEvent& event) {
  auto deliveries = alarms_.record(key, event);
  if (parts_.sync_wanted) parts_.sync_wanted();
  if (deliveries && !deliveries->empty()) parts_.notifier.send(*std::move(deliveries));
}

void Watcher::move_to(const Alarm& alarm, Condition condition) {
  Alarm changed = alarm;
  changed.condition = condition;
  AlarmEvent event{.item = state_item(alarm.condition, condition),
                   .condition = std::move(condition),
                   .notice = std::nullopt,
                   .targets = {},
                   .setting = std::nullopt};
  if (alarm.actions_enabled && alarm.condition.state != changed.condition.state) {
    event.notice = make_notice(changed, alarm.condition.state, parts_.console_url);
    for (const std::string& action : changed.actions_for(changed.condition.state)) {
      event.targets.push_back(target_of(action));
    }
  }
  record(key_of(alarm), event);
}

void Watcher::resume() {
  parts_.notifier.restore(read_latest_deliveries(parts_.engine));
  std::vector<PendingDelivery> deliveries;
  for (OpenDelivery& open : read_open_deliveries(parts_.engine)) {
    const std::string& id = open.delivery.target_id;
    PendingDelivery pending{.item = open.item,
                            .alarm = open.alarm,
                            .target = {},
                            .notice = std::move(open.notice),
                            .delivery = open.delivery};
    std::vector<std::string> candidates = parts_.notify;
    if (const auto alarm = alarms_.find(open.alarm)) {
      for (const auto* actions :
           {&alarm->ok_actions, &alarm->alarm_actions, &alarm->insufficient_data_actions}) {
        candidates.insert(candidates.end(), actions->begin(), actions->end());
      }
    }
    const auto named = std::ranges::find(
        candidates, id, [](const std::string& target) { return target_id(target); });
    if (named != candidates.end()) {
      pending.target = target_of(*named);
      deliveries.push_back(std::move(pending));
    } else {
      pending.delivery.state = DeliveryState::given_up;
      pending.delivery.error = "the target is no longer configured";
      record_delivery(parts_.engine, pending);
    }
  }
  if (!deliveries.empty()) parts_.notifier.send(std::move(deliveries));
}

std::optional<std::string> Watcher::why_unreachable(const std::string& text) const {
  const Target target = target_of(text);
  switch (target.kind) {
    case Target::Kind::queue: {
      const bool found = parts_.engine.turn([&](engine::Turn& turn) {
        const queue::Queue* const queue = turn.state().find_by_arn(text);
        return queue != nullptr && !queue->identity.is_hidden();
      });
      if (found) return std::nullopt;
      return "the queue does not exist";
    }
    case Target::Kind::function:
      if (parts_.has_function && parts_.has_function(text)) return std::nullopt;
      return "the function does not exist";
    case Target::Kind::webhook: {
      const std::string host = host_of_url(text);
      if (host.empty()) return "it is not a URL";
      const std::string address = literal_address(host);
      if (target.trusted || address.empty() || parts_.outgoing->permits(host, address)) {
        return std::nullopt;
      }
      return "its address is on this machine or in a private network; add it to [outgoing] allow "
             "in redrive.toml to permit it";
    }
    case Target::Kind::mail:
    case Target::Kind::command:
      if (target.trusted) return std::nullopt;
      return "commands and mail servers are allowed only in redrive.toml";
    case Target::Kind::unknown:
      break;
  }
  return "this server does not have this service; targets are queues, functions and webhooks";
}

Result<void> Watcher::check_reachable(const std::vector<std::string>& targets) const {
  if (parts_.accept_unreachable) return {};
  for (const std::string& target : targets) {
    if (const auto why = why_unreachable(target)) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("The target {} cannot be notified: {}.", shown_target(target), *why));
    }
  }
  return {};
}

Result<void> Watcher::set_state(const AlarmKey& key, const Condition& condition) {
  const MutexLock lock(mutex_);
  const auto alarm = alarms_.find(key);
  if (!alarm) {
    return fail(ErrorCode::resource_not_found,
                fmt::format("There is no alarm named {}.", key.name));
  }
  Condition given = condition;
  given.updated = parts_.engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
  given.transitioned =
      given.state == alarm->condition.state ? alarm->condition.transitioned : given.updated;
  move_to(*alarm, std::move(given));
  return {};
}

std::map<std::string, DeadLetterMemory> Watcher::memories(std::string_view of) const {
  std::vector<std::pair<std::string, std::string>> values;
  const std::string prefix(of);
  std::pair<EntryKind, std::string> after{EntryKind::setting, prefix};
  while (parts_.engine.turn([&](engine::Turn& turn) {
    const auto& entries = turn.state().entries();
    auto at = entries.upper_bound(after);
    for (std::size_t i = 0; at != entries.end() && at->first.first == EntryKind::setting &&
                            at->first.second.starts_with(prefix);
         ++at, ++i) {
      if (i == kMemoriesPerTurn) return true;
      values.emplace_back(at->first.second.substr(prefix.size()), at->second);
      after = at->first;
    }
    return false;
  })) {
    parts_.engine.give_way();
  }
  std::map<std::string, DeadLetterMemory> found;
  for (const auto& [arn, value] : values) found[arn] = decode_memory(value);
  return found;
}

AlarmEvent::Setting Watcher::memory_entry(std::string_view prefix, const std::string& arn,
                                          const DeadLetterMemory& memory) {
  AlarmEvent::Setting setting{.name = std::string(prefix) + arn, .value = std::nullopt};
  if (memory != DeadLetterMemory()) setting.value = encode(memory);
  return setting;
}

void Watcher::remember(std::string_view prefix, const std::string& arn,
                       const DeadLetterMemory& memory) {
  const AlarmEvent::Setting setting = memory_entry(prefix, arn, memory);
  parts_.engine.turn([&](engine::Turn& turn) {
    if (setting.value) {
      catalogue::put(turn, EntryKind::setting, setting.name, *setting.value);
    } else {
      catalogue::remove(turn, EntryKind::setting, setting.name);
    }
  });
  if (parts_.sync_wanted) parts_.sync_wanted();
}

std::uint64_t Watcher::arrivals_of(const queue::QueueIdentity& queue, Timestamp now) const {
  const std::size_t metric = metrics::index(metrics::QueueMetric::dead_lettered);
  const Timestamp to((now.seconds() + 1) * 1000);
  const auto buckets = parts_.history.read(
      {metrics::Scope::queue, queue.arn()}, metric, to - kLongPace, to, seconds(1));
  std::uint64_t sum = 0;
  for (const auto& bucket : buckets) sum += bucket ? static_cast<std::uint64_t>(bucket->sum) : 0;
  return sum;
}

void Watcher::look_at_dead_letters(Timestamp now, Timestamp wall) {
  const std::int64_t stretch = now.seconds() / kShortPace.count();
  if (!parts_.rules.on || stretch == dead_letters_judged_) return;
  dead_letters_judged_ = stretch;
  look_at_damage(wall);
  group_what_came(parts_.dead_letters);  // Whether a failure is new is known only after grouping.
  auto known = memories(kMemoryPrefix);
  for (DeadLetterReading& reading : read_dead_letter_queues(parts_.engine)) {
    const auto found = known.find(reading.identity.arn());
    const DeadLetterMemory before = found == known.end() ? DeadLetterMemory() : found->second;
    if (found != known.end()) known.erase(found);
    if (before.off) continue;
    reading.arrivals = arrivals_of(reading.identity, now);
    DeadLetterVerdict verdict = judge(parts_.rules, reading, before);
    if (verdict.memory == before && !verdict.tell) continue;
    if (verdict.tell) {
      verdict.memory.since_ms = wall.ms();
      tell_dead_letters(reading, before, verdict);
    } else {
      remember(kMemoryPrefix, reading.identity.arn(), verdict.memory);
    }
  }
  // Forget queues that were deleted or are no longer dead-letter queues.
  for (const auto& [arn, memory] : known) {
    parts_.engine.give_way();
    const std::string name = std::string(kMemoryPrefix) + arn;
    parts_.engine.turn(
        [&](engine::Turn& turn) { catalogue::remove(turn, EntryKind::setting, name); });
  }
}

// Notifies when a queue's first damaged message appears, and when there are none left.
void Watcher::look_at_damage(Timestamp wall) {
  auto known = memories(kDamagePrefix);
  for (const auto& [queue, messages] : parts_.dead_letters.damage.counts()) {
    const std::string arn = queue.arn();
    DeadLetterMemory memory = known[arn];
    known.erase(arn);
    if (memory.messages == (messages > 0)) continue;
    memory = {.messages = messages > 0, .since_ms = wall.ms()};
    tell_damage(queue, messages, memory);
  }
  for (const auto& [arn, memory] : known) remember(kDamagePrefix, arn, {});
}

void Watcher::tell_damage(const queue::QueueIdentity& queue, std::size_t messages,
                          const DeadLetterMemory& memory) {
  Alarm alarm = damage_alarm(queue, memory);
  const DamagePlace place = damage_place(queue);
  const AlarmState old = memory.messages ? AlarmState::ok : AlarmState::alarm;
  alarm.condition.reason =
      memory.messages
          ? fmt::format(
                "{}: the stored bytes cannot be read. See `redrive {} damaged ls {}`, and check "
                "the disk.",
                place.counted(messages),
                place.kind,
                place.name)
          : fmt::format("No more damaged {}.", place.all());
  record(key_of(alarm),
         {.item = own_item(old, alarm.condition),
          .condition = std::nullopt,
          .notice = make_notice(alarm, old, parts_.console_url),
          .targets = own_targets(),
          .setting = memory_entry(kDamagePrefix, queue.arn(), memory)});
}

void Watcher::tell_dead_letters(const DeadLetterReading& reading, const DeadLetterMemory& before,
                                const DeadLetterVerdict& verdict) {
  Alarm alarm = dead_letter_alarm(reading, verdict.memory);
  const bool over = !verdict.memory.alarming();
  alarm.condition.reason = over ? fmt::format("No more dead letters in {}.", reading.identity.name)
                                : joined(verdict.findings);
  const AlarmState old = before.alarming() ? AlarmState::alarm : AlarmState::ok;
  AlarmEvent event{.item = own_item(old, alarm.condition),
                   .condition = std::nullopt,
                   .notice = std::nullopt,
                   .targets = own_targets(),
                   .setting = memory_entry(kMemoryPrefix, reading.identity.arn(), verdict.memory)};
  if (over) {
    event.notice = make_notice(alarm, old, parts_.console_url);
  } else if (!event.targets.empty()) {
    event.notice = make_notice(alarm,
                               old,
                               find_reason(parts_.engine,
                                           parts_.dead_letters,
                                           reading,
                                           verdict.findings,
                                           before.last_group,
                                           parts_.mask_rules.get()),
                               parts_.console_url);
  }
  record(key_of(alarm), event);
}

std::vector<Watcher::DamageAlarm> Watcher::damage_alarms() {
  auto known = memories(kDamagePrefix);
  std::vector<DamageAlarm> alarms;
  for (const auto& [queue, messages] : parts_.dead_letters.damage.counts()) {
    alarms.push_back({queue, messages, damage_alarm(queue, known[queue.arn()])});
  }
  return alarms;
}

std::vector<Watcher::DeadLetterAlarm> Watcher::dead_letter_alarms() {
  const auto known = memories(kMemoryPrefix);
  std::vector<DeadLetterAlarm> alarms;
  for (DeadLetterReading& reading : read_dead_letter_queues(parts_.engine)) {
    const auto found = known.find(reading.identity.arn());
    const DeadLetterMemory memory = found == known.end() ? DeadLetterMemory() : found->second;
    alarms.push_back({reading, memory, dead_letter_alarm(reading, memory)});
  }
  return alarms;
}

Result<void> Watcher::switch_dead_letter_alarm(const queue::QueueIdentity& queue, bool on) {
  const MutexLock lock(mutex_);
  for (const DeadLetterAlarm& alarm : dead_letter_alarms()) {
    if (alarm.reading.identity != queue) continue;
    DeadLetterMemory memory = alarm.memory;
    memory.off = !on;
    remember(kMemoryPrefix, queue.arn(), memory);
    return {};
  }
  return fail(ErrorCode::resource_not_found,
              fmt::format("{} is not a dead-letter queue.", queue.name));
}

void Watcher::tell(const ServerAlarm& changed) {
  const Timestamp wall = parts_.engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
  Alarm alarm{.account = parts_.account,
              .region = parts_.region,
              .name = changed.name,
              .description = changed.description,
              .statistic = "Maximum"};
  alarm.condition.state = changed.state;
  alarm.condition.reason = changed.reason;
  alarm.condition.updated = alarm.condition.transitioned = wall;
  record(key_of(alarm),
         {.item = own_item(changed.before, alarm.condition),
          .condition = std::nullopt,
          .notice = make_notice(alarm, changed.before, parts_.console_url),
          .targets = own_targets(),
          .setting = std::nullopt});
}

std::size_t Watcher::test() {
  const Timestamp wall = parts_.engine.wall();
  Alarm alarm{.account = parts_.account,
              .region = parts_.region,
              .name = std::string(kTestAlarm),
              .description = "A test of the notification targets was requested.",
              .statistic = "Maximum"};
  alarm.condition.state = AlarmState::alarm;
  alarm.condition.reason = "This is a test. Nothing is wrong.";
  alarm.condition.transitioned = wall + Duration(++tests_);  // Makes each test a separate notice.
  record(key_of(alarm),
         {.item = own_item(AlarmState::ok, alarm.condition),
          .condition = std::nullopt,
          .notice = make_notice(alarm, AlarmState::ok, parts_.console_url),
          .targets = own_targets(),
          .setting = std::nullopt});
  return parts_.notify.size();
}

}  // namespace redrive::alarms
