#include "alarms/courier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "store/message_codec.h"

namespace redrive::alarms {
namespace {

constexpr std::string_view kCommandPrefix = "command:";
constexpr std::string_view kSender = "redrive-alarms";
constexpr std::string_view kNoService =
    "this server has no such service; it notifies queues, functions and webhooks";

// Whether two notices are of one alarm and for one target.
bool is_same_way(const Errand& a, const Errand& b) {
  return a.delivery.target_id == b.delivery.target_id && a.alarm == b.alarm;
}

// Without those whose items are gone: the alarm was removed, or the server was reset.
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

std::vector<std::chrono::milliseconds> Courier::default_pauses() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {seconds(1), seconds(5), seconds(30), minutes(2), minutes(10)};
}

void Courier::send(std::vector<Errand> errands) {
  std::vector<Errand> refused;
  {
    const std::lock_guard lock(mutex_);
    for (Errand& errand : errands) {
      // The journal has superseded these already.
      std::erase_if(entries_, [&](const Entry& entry) {
        return is_same_way(entry.errand, errand) && !entry.under_way;
      });
      if (entries_.size() >= kErrandsMax) {
        refused.push_back(std::move(errand));
        continue;
      }
      note(errand);
      entries_.push_back({.number = ++last_, .errand = std::move(errand)});
    }
    start_due(parts_.engine.now());
  }
  for (Errand& errand : refused) refuse(std::move(errand));
}

void Courier::look() {
  const Timestamp now = parts_.engine.now();
  const std::lock_guard lock(mutex_);
  start_due(now);
}

// With the mutex held.
bool Courier::is_startable(const Entry& entry, Timestamp now) const {
  if (entry.under_way || entry.errand.delivery.next > now) return false;
  return std::ranges::none_of(entries_, [&](const Entry& other) {
    return other.under_way && is_same_way(other.errand, entry.errand);
  });
}

// With the mutex held.
void Courier::start_due(Timestamp now) {
  for (Entry& entry : entries_) {
    if (!is_startable(entry, now)) continue;
    entry.under_way = true;
    workers_.run([this, number = entry.number] { attempt(number); });
  }
}

void Courier::attempt(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const auto entry = std::ranges::find(entries_, number, &Entry::number);
  if (entry == entries_.end()) return;
  Errand errand = entry->errand;  // The entry stays: it is under way.
  lock.unlock();
  if (parts_.synced && parts_.synced() < errand.after) {
    workers_.run_at(Workers::Clock::now() + kSyncLook, [this, number] { attempt(number); });
    return;
  }
  bool open = is_open(parts_.engine, errand);
  Attempt outcome;
  if (open) {
    outcome = deliver(errand.target, errand.notice);
    const queue::Stamp stamp = parts_.engine.turn([](engine::Turn& turn) { return turn.stamp(); });
    errand.delivery = after_attempt(
        errand.delivery, outcome, parts_.pauses, {.now = stamp.now, .wall = stamp.wall});
    open = record_delivery(parts_.engine, errand) && errand.delivery.is_open();
    if (parts_.sync_wanted) parts_.sync_wanted();
  }
  lock.lock();
  entry->errand = std::move(errand);
  finish(entry, outcome, open);
}

// With the mutex held.
void Courier::finish(Entries::iterator entry, const Attempt& outcome, bool open) {
  const Errand& errand = entry->errand;
  entry->under_way = false;
  if (errand.delivery.attempts > 0) note(errand);
  totals_.delivered += errand.delivery.state == DeliveryState::delivered;
  totals_.failed_attempts += !outcome.succeeded();
  if (errand.delivery.state == DeliveryState::given_up) {
    totals_.given_up += 1;
    log_given_up(errand);
  }
  if (!open) entries_.erase(entry);
  start_due(parts_.engine.now());
  idle_.notify_all();
}

// With the mutex held.
void Courier::log_given_up(const Errand& errand) const {
  if (!parts_.log) return;
  parts_.log(fmt::format("alarm notice \"{}\" was not delivered to {}: {}",
                         errand.notice.title,
                         errand.delivery.target,
                         errand.delivery.error));
}

void Courier::refuse(Errand errand) {
  errand.delivery.state = DeliveryState::given_up;
  errand.delivery.error = fmt::format("more than {} notices are waiting", kErrandsMax);
  errand.delivery.at = parts_.engine.wall();
  record_delivery(parts_.engine, errand);
  if (parts_.sync_wanted) parts_.sync_wanted();
  const std::lock_guard lock(mutex_);
  totals_.given_up += 1;
  note(errand);
  log_given_up(errand);
}

// With the mutex held. Beyond the limit the history alone tells.
void Courier::note(const Errand& errand) {
  const std::pair key(errand.alarm, errand.delivery.target_id);
  const auto known = latest_.find(key);
  if (known == latest_.end() && latest_.size() >= kLatestMax) return;
  // An earlier notice may come to its end after a later one was queued.
  if (known != latest_.end() && known->second.first > errand.item) return;
  latest_[key] = {errand.item, errand.delivery};
}

void Courier::restore(LatestDeliveries latest) {
  const std::lock_guard lock(mutex_);
  latest_.merge(latest);
}

std::vector<Delivery> Courier::latest(const AlarmKey& alarm) const {
  std::vector<std::pair<std::string, Delivery>> found;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = latest_.lower_bound({alarm, ""}); at != latest_.end(); ++at) {
      if (at->first.first != alarm) break;
      found.push_back(at->second);
    }
  }
  return still_recorded(parts_.engine, std::move(found));
}

std::vector<Delivery> Courier::latest_by_target() const {
  std::map<std::string, std::pair<std::string, Delivery>> by_target;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, known] : latest_) {
      auto& latest = by_target[key.second];
      if (latest.first.empty() || latest.second.at < known.second.at) latest = known;
    }
  }
  std::vector<std::pair<std::string, Delivery>> found;
  for (auto& [id, known] : by_target) found.push_back(std::move(known));
  return still_recorded(parts_.engine, std::move(found));
}

Courier::Totals Courier::totals() const {
  const std::lock_guard lock(mutex_);
  Totals totals = totals_;
  for (const Entry& entry : entries_) {
    const bool failing = entry.errand.delivery.state == DeliveryState::failing;
    (failing ? totals.failing : totals.queued) += 1;
  }
  return totals;
}

bool Courier::wait_idle(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(
      lock, time, [this] { return std::ranges::none_of(entries_, &Entry::under_way); });
}

Attempt Courier::deliver(const Target& target, const Notice& notice) const {
  const auto done = pass_on(target, notice);
  if (done) return {.status = *done, .error = {}, .final = false};
  const ErrorCode code = done.error().code;
  return {.status = {},
          .error = done.error().message,
          .final = code == ErrorCode::unsupported_operation || code == ErrorCode::access_denied};
}

Result<std::string> Courier::pass_on(const Target& target, const Notice& notice) const {
  if (!target.trusted &&
      (target.kind == Target::Kind::mail || target.kind == Target::Kind::command)) {
    return fail(ErrorCode::access_denied, "only redrive.toml may name commands and mail servers");
  }
  switch (target.kind) {
    case Target::Kind::queue:
      return send_to_queue(target.text, notice);
    case Target::Kind::function:
      if (!parts_.invoke) {
        return fail(ErrorCode::unsupported_operation, "this server runs no functions");
      }
      CHECK(parts_.invoke(target.text, notice.json));
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

Result<std::string> Courier::send_to_queue(const std::string& arn, const Notice& notice) const {
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
