#include "alarms/courier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "store/message_codec.h"

namespace redrive::alarms {
namespace {

constexpr std::string_view kCommandPrefix = "command:";
constexpr std::string_view kSender = "redrive-alarms";

}  // namespace

std::vector<std::chrono::milliseconds> Courier::default_pauses() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {seconds(1), seconds(5), seconds(30), minutes(2), minutes(10)};
}

void Courier::send(Target target, Notice notice) {
  if (target.kind == Target::Kind::unknown) return;  // Topics and the like, which we have not.
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Errand& errand) {
    return errand.target.text == target.text && errand.notice.key == notice.key;
  };
  const auto told = std::ranges::find_if(errands_, [&](const Errand& errand) {
    return same(errand) && errand.notice.id == notice.id;
  });
  if (told != errands_.end()) return;
  errands_.remove_if([&](const Errand& errand) { return same(errand) && !errand.under_way; });
  if (errands_.size() >= kErrandsMax) {
    if (parts_.log) parts_.log(fmt::format("too many notices wait: not told: {}", notice.title));
    return;
  }
  const Errand& errand = errands_.emplace_back(
      Errand{.number = ++last_, .target = std::move(target), .notice = std::move(notice)});
  note_outcome(errand, true, "");
  workers_.run([this, number = errand.number] { attempt(number); });
}

void Courier::attempt(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const auto errand = std::ranges::find(errands_, number, &Errand::number);
  if (errand == errands_.end()) return;  // A later one took its place.
  errand->under_way = true;
  lock.unlock();
  const auto done = deliver(errand->target, errand->notice);
  lock.lock();
  finish(errand, done);
}

void Courier::note_outcome(const Errand& errand, bool waiting, std::string error) {
  const std::string target = shown_target(errand.target.text);
  if (outcomes_.size() >= kOutcomesMax && !outcomes_.contains(target)) return;
  outcomes_[target] = {errand.notice.title, waiting, std::move(error)};
}

std::map<std::string, Courier::Outcome> Courier::outcomes() const {
  const std::lock_guard lock(mutex_);
  return outcomes_;
}

void Courier::finish(std::list<Errand>::iterator errand, const Result<void>& done) {
  errand->under_way = false;
  const bool give_up = !done && errand->attempts >= parts_.pauses.size();
  // What came after it for the same target and alarm is what counts.
  const bool stale = std::any_of(std::next(errand), errands_.end(), [&](const Errand& later) {
    return later.target.text == errand->target.text && later.notice.key == errand->notice.key;
  });
  note_outcome(*errand, !done && !give_up, done ? "" : done.error().message);
  if (done || give_up || stale) {
    if (give_up && parts_.log) {
      parts_.log(fmt::format("{} could not be told to {}: {}",
                             errand->notice.title,
                             shown_target(errand->target.text),
                             done.error().message));
    }
    errands_.erase(errand);
  } else {
    workers_.run_at(Workers::Clock::now() + parts_.pauses[errand->attempts++],
                    [this, number = errand->number] { attempt(number); });
  }
  if (errands_.empty()) idle_.notify_all();
}

bool Courier::wait_idle(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, time, [this] { return errands_.empty(); });
}

Result<void> Courier::deliver(const Target& target, const Notice& notice) const {
  if (!target.trusted &&
      (target.kind == Target::Kind::mail || target.kind == Target::Kind::command)) {
    return fail(ErrorCode::access_denied, "only redrive.toml may name commands and mail servers");
  }
  switch (target.kind) {
    case Target::Kind::queue:
      return send_to_queue(target.text, notice);
    case Target::Kind::function:
      if (parts_.invoke) return parts_.invoke(target.text, notice.json);
      return fail(ErrorCode::unsupported_operation, "this server runs no functions");
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
  return fail(ErrorCode::unsupported_operation, fmt::format("{} is no target", target.text));
}

Result<void> Courier::send_to_queue(const std::string& arn, const Notice& notice) const {
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
  if (parts_.sync_wanted) parts_.sync_wanted();
  return {};
}

}  // namespace redrive::alarms
