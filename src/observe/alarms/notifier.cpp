#include "observe/alarms/notifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "core/store/message_codec.h"

namespace redrive::alarms {
namespace {

constexpr std::string_view kCommandPrefix = "command:";
constexpr std::string_view kSender = "redrive-alarms";
constexpr std::string_view kNoService =
    "this server does not have this service; targets are queues, functions and webhooks";

// Whether two notices are of the same alarm and for the same target.
bool is_same_route(const PendingDelivery& a, const PendingDelivery& b) {
  return a.delivery.target_id == b.delivery.target_id && a.alarm == b.alarm;
}

// Without deliveries whose history item is gone: the alarm was removed, or the server was reset.
std::vector<Delivery> still_recorded(engine::Engine& engine,
                                     std::vector<std::pair<std::string, Delivery>> known) {
  constexpr std::size_t kPerTurn = 256;
  std::vector<Delivery> found;
  for (std::size_t first = 0; first < known.size(); first += kPerTurn) {
    engine.turn([&](engine::Turn& turn) {
      for (std::size_t i = first; i < std::min(known.size(), first + kPerTurn); ++i) {
        auto& [item, delivery] = known[i];
        if (turn.state().find_entry(queue::EntryKind::alarm_history, item) == nullptr) continue;
        found.push_back(std::move(delivery));
      }
    });
  }
  return found;
}

}  // namespace

std::vector<std::chrono::milliseconds> Notifier::default_pauses() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {seconds(1), seconds(5), seconds(30), minutes(2), minutes(10)};
}

void Notifier::send(std::vector<PendingDelivery> deliveries) {
  std::vector<PendingDelivery> refused;
  {
    const MutexLock lock(mutex_);
    for (PendingDelivery& pending : deliveries) {
      // Already superseded in the journal.
      std::erase_if(entries_, [&](const Entry& entry) {
        return is_same_route(entry.pending, pending) && !entry.under_way;
      });
      if (entries_.size() >= kPendingMax) {
        refused.push_back(std::move(pending));
        continue;
      }
      note(pending);
      entries_.push_back({.number = ++last_, .pending = std::move(pending)});
    }
    start_due(parts_.engine.now());
  }
  for (PendingDelivery& pending : refused) refuse(std::move(pending));
}

void Notifier::look() {
  const Timestamp now = parts_.engine.now();
  const MutexLock lock(mutex_);
  start_due(now);
}

bool Notifier::is_startable(const Entry& entry, Timestamp now) const {
  if (entry.under_way || entry.pending.delivery.next > now) return false;
  return std::ranges::none_of(entries_, [&](const Entry& other) {
    return other.under_way && is_same_route(other.pending, entry.pending);
  });
}

void Notifier::start_due(Timestamp now) {
  for (Entry& entry : entries_) {
    if (!is_startable(entry, now)) continue;
    entry.under_way = true;
    workers_.run([this, number = entry.number] { attempt(number); });
  }
}

void Notifier::attempt(std::uint64_t number) {
  UniqueMutexLock lock(mutex_);
  const auto entry = std::ranges::find(entries_, number, &Entry::number);
  if (entry == entries_.end()) return;
  PendingDelivery pending = entry->pending;  // A copy; the entry stays, marked as in progress.
  lock.unlock();
  if (parts_.synced && parts_.synced() < pending.after) {
    workers_.run_at(Workers::Clock::now() + kSyncLook, [this, number] { attempt(number); });
    return;
  }
  bool open = is_open(parts_.engine, pending);
  Attempt outcome;
  if (open) {
    outcome = deliver(pending.target, pending.notice);
    const queue::Stamp stamp = parts_.engine.turn([](engine::Turn& turn) { return turn.stamp(); });
    pending.delivery = after_attempt(
        pending.delivery, outcome, parts_.pauses, {.now = stamp.now, .wall = stamp.wall});
    open = record_delivery(parts_.engine, pending) && pending.delivery.is_open();
    if (parts_.sync_wanted) parts_.sync_wanted();
  }
  lock.lock();
  entry->pending = std::move(pending);
  finish(entry, outcome, open);
}

void Notifier::finish(Entries::iterator entry, const Attempt& outcome, bool open) {
  const PendingDelivery& pending = entry->pending;
  entry->under_way = false;
  if (pending.delivery.attempts > 0) note(pending);
  totals_.delivered += pending.delivery.state == DeliveryState::delivered;
  totals_.failed_attempts += !outcome.succeeded();
  if (pending.delivery.state == DeliveryState::given_up) {
    totals_.given_up += 1;
    log_given_up(pending);
  }
  if (!open) entries_.erase(entry);
  start_due(parts_.engine.now());
  idle_.notify_all();
}

void Notifier::log_given_up(const PendingDelivery& pending) const {
  if (!parts_.log) return;
  parts_.log(fmt::format("alarm notification \"{}\" was not delivered to {}: {}",
                         pending.notice.title,
                         pending.delivery.target,
                         pending.delivery.error));
}

void Notifier::refuse(PendingDelivery pending) {
  pending.delivery.state = DeliveryState::given_up;
  pending.delivery.error = fmt::format("more than {} notifications are waiting", kPendingMax);
  pending.delivery.at = parts_.engine.wall();
  record_delivery(parts_.engine, pending);
  if (parts_.sync_wanted) parts_.sync_wanted();
  const MutexLock lock(mutex_);
  totals_.given_up += 1;
  note(pending);
  log_given_up(pending);
}

// Beyond the limit only the history has the delivery.
void Notifier::note(const PendingDelivery& pending) {
  const std::pair key(pending.alarm, pending.delivery.target_id);
  const auto known = latest_.find(key);
  if (known == latest_.end() && latest_.size() >= kLatestMax) return;
  // An earlier notice may complete after a later one was queued.
  if (known != latest_.end() && known->second.first > pending.item) return;
  latest_[key] = {pending.item, pending.delivery};
}

void Notifier::restore(LatestDeliveries latest) {
  const MutexLock lock(mutex_);
  latest_.merge(latest);
}

std::vector<Delivery> Notifier::latest(const AlarmKey& alarm) const {
  std::vector<std::pair<std::string, Delivery>> found;
  {
    const MutexLock lock(mutex_);
    for (auto at = latest_.lower_bound({alarm, ""}); at != latest_.end(); ++at) {
      if (at->first.first != alarm) break;
      found.push_back(at->second);
    }
  }
  return still_recorded(parts_.engine, std::move(found));
}

std::vector<Delivery> Notifier::latest_by_target() const {
  std::map<std::string, std::pair<std::string, Delivery>> by_target;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, known] : latest_) {
      auto& latest = by_target[key.second];
      if (latest.first.empty() || latest.second.at < known.second.at) latest = known;
    }
  }
  std::vector<std::pair<std::string, Delivery>> found;
  for (auto& [id, known] : by_target) found.push_back(std::move(known));
  return still_recorded(parts_.engine, std::move(found));
}

Notifier::Totals Notifier::totals() const {
  const MutexLock lock(mutex_);
  Totals totals = totals_;
  for (const Entry& entry : entries_) {
    const bool failing = entry.pending.delivery.state == DeliveryState::failing;
    (failing ? totals.failing : totals.queued) += 1;
  }
  return totals;
}

bool Notifier::wait_idle(std::chrono::milliseconds time) {
  UniqueMutexLock lock(mutex_);
  return idle_.wait_for(mutex_, time, [this]() REQUIRES(mutex_) {
    return std::ranges::none_of(entries_, &Entry::under_way);
  });
}

Attempt Notifier::deliver(const Target& target, const Notice& notice) const {
  const auto done = pass_on(target, notice);
  if (done) return {.status = *done, .error = {}, .final = false};
  const ErrorCode code = done.error().code;
  return {.status = {},
          .error = done.error().message,
          .final = code == ErrorCode::unsupported_operation || code == ErrorCode::access_denied};
}

Result<std::string> Notifier::pass_on(const Target& target, const Notice& notice) const {
  if (!target.trusted &&
      (target.kind == Target::Kind::mail || target.kind == Target::Kind::command)) {
    return fail(ErrorCode::access_denied,
                "commands and mail servers are allowed only in redrive.toml");
  }
  switch (target.kind) {
    case Target::Kind::queue:
      return send_to_queue(target.text, notice);
    case Target::Kind::function:
      if (!parts_.invoke) {
        return fail(ErrorCode::unsupported_operation, "this server runs no functions");
      }
      RETURN_IF_ERROR(parts_.invoke(target.text, notice.json));
      return "accepted for asynchronous invocation";
    case Target::Kind::webhook:
      return post_webhook(target.text,
                          notice,
                          {.outgoing = target.trusted ? nullptr : parts_.outgoing,
                           .timeout = parts_.timeout,
                           .ca_file = parts_.ca_file});
    case Target::Kind::mail:
      return send_mail(target.text, notice, {.timeout = parts_.timeout, .ca_file = parts_.ca_file});
    case Target::Kind::command:
      return run_command(target.text.substr(kCommandPrefix.size()), notice, parts_.timeout);
    case Target::Kind::unknown:
      break;
  }
  return fail(ErrorCode::unsupported_operation, std::string(kNoService));
}

Result<std::string> Notifier::send_to_queue(const std::string& arn, const Notice& notice) const {
  const auto identity = parts_.engine.turn(
      [&](engine::Turn& turn) -> std::optional<std::pair<queue::QueueIdentity, bool>> {
        const queue::Queue* const queue = turn.state().find_by_arn(arn);
        if (queue == nullptr || queue->identity.is_hidden()) return std::nullopt;
        return std::pair(queue->identity, queue->settings.is_fifo());
      });
  if (!identity) {
    return fail(ErrorCode::queue_does_not_exist, fmt::format("There is no queue {}.", arn));
  }
  const std::string dedup = identity->second ? sha256_hex(notice.id) : "";
  store::MessageContents contents;
  contents.body = notice.json;
  contents.md5_of_body = md5(notice.json);
  contents.sender = kSender;
  contents.group = identity->second ? std::string_view("alarms") : std::string_view();
  contents.dedup = dedup;
  std::string tail;
  store::encode_tail(tail, contents);
  const queue::Draft draft{.group = contents.group,
                           .dedup = dedup,
                           .tail = tail,
                           .tail_crc = crc32c(tail),
                           .bytes = static_cast<std::uint32_t>(notice.json.size())};
  const auto sent = parts_.engine.send(identity->first, std::span(&draft, 1));
  if (!sent) return std::unexpected(sent.error());
  return fmt::format("message {}", sent->outcomes.front().message_id.text());
}

}  // namespace redrive::alarms
