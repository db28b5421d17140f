// Consumer operations.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using queue::QueueKey;
using std::chrono::seconds;

bool concerns(const Record& record, QueueKey queue) {
  return std::ranges::any_of(record.facts, [&](const queue::Change& fact) {
    if (const auto* dead = fact.as<queue::MessageDeadLettered>()) return dead->from == queue;
    if (const auto* got = fact.as<queue::MessagesReceived>()) return got->queue == queue;
    if (const auto* again = fact.as<queue::ReceiveRepeated>()) return again->queue == queue;
    return false;
  });
}

constexpr std::string_view kHandles = "handles are worth what the rules say";
constexpr seconds kHeldMax(43'200);

void answer_is(const std::optional<ErrorCode>& expected, const Result<void>& answer,
               MessageKey key) {
  const bool right = is_as_expected(answer, expected);
  require(right, kHandles, "message {}: {}", number(key), answer ? "done" : answer.error().message);
}

// The messages that the operation itself deleted; consequences come in later records.
std::vector<MessageKey> deleted_by(std::span<const Record> records) {
  std::vector<MessageKey> keys;
  // The creation of a queue for settled messages may precede it.
  for (const Record& record : records) {
    for (const queue::Change& fact : record.facts) {
      if (const auto* gone = fact.as<queue::MessageDeleted>()) keys.push_back(gone->key);
      if (const auto* kept = fact.as<queue::MessageSettled>()) keys.push_back(kept->key);
    }
    if (!keys.empty()) return keys;
  }
  return keys;
}

bool changed_by(std::span<const Record> records, const queue::VisibilityChanged& expected) {
  if (records.empty()) return false;
  const auto* fact = records.front().facts.front().as<queue::VisibilityChanged>();
  return fact != nullptr && fact->queue == expected.queue && fact->key == expected.key &&
         fact->visible_at == expected.visible_at && fact->not_run == expected.not_run;
}

}  // namespace

void Driver::receive() {
  const auto key = choose_full_queue();
  if (!key) return;
  Ask ask{.queue = *key, .max = static_cast<std::size_t>(chance_.between(1, 10))};
  if (chance_.one_in(2)) ask.visibility = Duration(seconds(chance_.below(30)));
  if (!chance_.one_in(4)) {
    ask.consumer = fmt::format("consumer{}", chance_.below(4));
    // Two hosts that run the same versions.
    if (chance_.one_in(2)) {
      ask.consumer += fmt::format(" 10.0.0.{} app=v{}", chance_.below(2), chance_.below(3));
    }
  }
  if (chance_.one_in(3)) ask.attempt_id = fmt::format("attempt{}", chance_.below(3));
  ask.isolated = chance_.one_in(2);
  receive_once(std::move(ask), Duration::zero());
}

void Driver::wait_for_messages() {
  const auto key = choose_queue();
  if (!key || world_.waiters().size() > 6) return;
  Ask ask{.queue = *key, .max = static_cast<std::size_t>(chance_.between(1, 10))};
  if (chance_.one_in(2)) ask.visibility = Duration(seconds(chance_.below(30)));
  if (chance_.one_in(4)) ask.attempt_id = fmt::format("attempt{}", chance_.below(3));
  ask.consumer = "patient";
  ask.isolated = chance_.one_in(3);
  std::optional<Duration> wait;
  if (!chance_.one_in(4)) wait = Duration(chance_.between(1, 20'000));
  receive_once(std::move(ask), wait);
}

void Driver::receive_once(Ask ask, std::optional<Duration> wait) {
  const std::uint64_t wait_number = ++waits_;
  const ModelQueue queue = world_.model().queues().at(ask.queue);
  auto start = world_.engine().receive(queue.identity,
                                       {.max = ask.max,
                                        .visibility = ask.visibility,
                                        .consumer = ask.consumer,
                                        .attempt_id = ask.attempt_id,
                                        .isolated = ask.isolated},
                                       wait,
                                       world_.answer_to(wait_number));
  const auto records = world_.take_records();
  const bool took = !records.empty() && concerns(records.front(), ask.queue);
  world_.model().check_receive(ask, took ? &records.front() : nullptr);
  std::vector<Delivery> deliveries;
  if (took) {
    world_.believe(records.front());
    deliveries = world_.deliveries(delivered_by(records.front()));
  }
  tell("  {} of {} from {}", deliveries.size(), ask.max, queue.identity.name);
  const Duration patience = wait.value_or(queue.settings.receive_wait);
  const bool waits = deliveries.empty() && patience > Duration::zero();
  require(start.answer.has_value() == !waits, "who need not wait has an answer", "{}", wait_number);
  if (waits) {
    world_.add_waiter(wait_number, start.wait, std::move(ask), world_.now() + patience);
  } else {
    require(start.answer->has_value(), "a receive succeeds", "{}", queue.identity.name);
    const journal::Sequence after = took ? records.front().sequence : 0;
    world_.reply_is_exact(**start.answer, deliveries, after, ask.queue);
    world_.hold_reply(std::move(**start.answer));
  }
  world_.follow(std::span(records).subspan(took ? 1 : 0));
  world_.settle_answers();
}

void Driver::cancel_wait() {
  if (world_.waiters().empty()) return;
  const Waiter& waiter = chance_.pick(world_.waiters());
  require(world_.engine().cancel(waiter.id), "a wait can be cancelled", "{}", waiter.number);
  require(!world_.engine().cancel(waiter.id), "a wait ends once", "{}", waiter.number);
  world_.forget_waiter(waiter.number);
}

std::vector<Driver::Shown> Driver::choose_handles(QueueKey queue, std::size_t count) {
  std::vector<Shown> own;
  std::vector<Shown> all;
  for (const World::Issued& issued : world_.issued()) {
    all.push_back({issued.handle});
    if (issued.handle.queue == queue) own.push_back({issued.handle});
  }
  std::vector<Shown> out;
  for (std::size_t i = 0; i < count && !all.empty(); ++i) {
    Shown shown = own.empty() || chance_.one_in(10) ? chance_.pick(all) : chance_.pick(own);
    shown.forged = chance_.one_in(30);
    out.push_back(shown);
  }
  return out;
}

std::string Driver::seal(const Shown& shown) {
  auto secret = world_.model().secret();
  if (shown.forged) secret[0] ^= 1;
  return shown.handle.seal(secret);
}

// A queue's response to a handle: an error, or none if the operation is carried out, provided the
// message is still there for it.
std::optional<ErrorCode> Driver::refusal(const Shown& shown, QueueKey queue) {
  const Model& model = world_.model();
  const Standing standing = shown.forged ? Standing::foreign : model.standing(shown.handle, queue);
  if (standing == Standing::foreign) return ErrorCode::receipt_handle_is_invalid;
  const bool fifo = model.queues().at(queue).settings.is_fifo();
  if (standing == Standing::stale && fifo) return ErrorCode::invalid_parameter_value;
  return std::nullopt;
}

void Driver::remove() {
  const auto key = choose_received_queue();
  if (!key) return;
  const auto handles = choose_handles(*key, static_cast<std::size_t>(chance_.between(1, 4)));
  if (!handles.empty()) remove_with(*key, handles);
}

void Driver::remove_with(QueueKey key, std::span<const Shown> handles) {
  std::vector<std::optional<ErrorCode>> expected;
  std::vector<MessageKey> deleted;
  std::vector<std::string> texts;
  for (const Shown& shown : handles) {
    expected.push_back(refusal(shown, key));
    const bool there = world_.model().standing(shown.handle, key) != Standing::gone;
    const bool first = std::ranges::find(deleted, shown.handle.key) == deleted.end();
    if (!expected.back() && there && first) deleted.push_back(shown.handle.key);
    texts.push_back(seal(shown));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto results = world_.engine().remove(identity_of(key), views);
  require(results.has_value(), kHandles, "delete from {}", number(key));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    answer_is(expected[i], (*results)[i], handles[i].handle.key);
  }
  const auto records = world_.take_records();
  require(deleted_by(records) == deleted, kHandles, "{} should be deleted", deleted.size());
  tell("  {} of {} from {}", deleted.size(), handles.size(), number(key));
  world_.follow(records);
  world_.settle_answers();
}

bool Driver::is_held_in_isolation(const queue::ReceiptHandle& handle, QueueKey queue) {
  if (world_.model().standing(handle, queue) != Standing::current) return false;
  const queue::Attempt& last = world_.model().messages().at(handle.key).history.attempts.back();
  return last.isolation == queue::Isolation::on && last.end == queue::AttemptEnd::open;
}

void Driver::change_visibility() {
  const auto key = choose_received_queue();
  if (!key) return;
  const auto handles = choose_handles(*key, 1);
  if (handles.empty()) return;
  const Shown& shown = handles.front();
  seconds timeout(chance_.one_in(3) ? 0 : chance_.between(1, 60));
  if (chance_.one_in(16)) timeout = kHeldMax;
  auto expected = refusal(shown, *key);
  const bool gone = world_.model().standing(shown.handle, *key) == Standing::gone;
  const auto held_since = [&] {
    return world_.model().messages().at(shown.handle.key).history.received_at;
  };
  if (!expected && (gone || world_.now() + timeout > held_since() + kHeldMax)) {
    expected = ErrorCode::invalid_parameter_value;
  }
  const std::string text = seal(shown);
  const bool unused = chance_.one_in(3);
  const engine::Engine::VisibilityRequest request{
      .handle = text, .timeout = timeout, .not_run = unused};
  const bool not_run = !expected && unused && is_held_in_isolation(shown.handle, *key);
  const auto results = world_.engine().change_visibility(identity_of(*key), std::span(&request, 1));
  require(results.has_value(), kHandles, "change visibility in {}", number(*key));
  answer_is(expected, results->front(), shown.handle.key);
  const auto records = world_.take_records();
  const bool changed =
      changed_by(records, {*key, shown.handle.key, world_.now() + timeout, not_run});
  require(changed == !expected, kHandles, "visibility of message {}", number(shown.handle.key));
  tell("  message {} {}", number(shown.handle.key), timeout.count());
  world_.follow(records);
  world_.settle_answers();
}

}  // namespace redrive::sim
