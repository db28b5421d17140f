// What senders and consumers do.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using queue::QueueKey;
using std::chrono::seconds;

// The sends of a batch that are new, and what the others repeat.
struct Expected {
  bool duplicate = false;
  Uuid message_id;
  std::uint64_t sequence = 0;
  std::optional<std::size_t> forerunner;  // In the same batch.
};

std::vector<Expected> expect_sends(const Model& model, const ModelQueue& queue,
                                   std::span<const Letter> letters) {
  std::vector<Expected> out(letters.size());
  if (!queue.settings.fifo) return out;
  const bool by_group = queue.settings.fifo->dedup_scope_at_birth == queue::DedupScope::message_group;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (const auto* before = model.find_dedup(queue, letters[i].group, letters[i].dedup)) {
      out[i] = {.duplicate = true, .message_id = before->message_id, .sequence = before->sequence};
      continue;
    }
    for (std::size_t j = 0; j < i && !out[i].duplicate; ++j) {
      const bool same_scope = !by_group || letters[i].group == letters[j].group;
      if (same_scope && letters[i].dedup == letters[j].dedup) out[i] = {.duplicate = true, .forerunner = j};
    }
  }
  return out;
}

bool concerns(const Record& record, QueueKey queue) {
  return std::ranges::any_of(record.facts, [&](const queue::Change& fact) {
    if (const auto* dead = std::get_if<queue::MessageDeadLettered>(&fact)) return dead->from == queue;
    if (const auto* got = std::get_if<queue::MessagesReceived>(&fact)) return got->queue == queue;
    if (const auto* again = std::get_if<queue::ReceiveRepeated>(&fact)) return again->queue == queue;
    return false;
  });
}

std::vector<MessageKey> delivered_by(const Record& record) {
  for (const queue::Change& fact : record.facts) {
    if (const auto* got = std::get_if<queue::MessagesReceived>(&fact)) {
      return {got->keys.begin(), got->keys.begin() + got->count};
    }
    if (const auto* again = std::get_if<queue::ReceiveRepeated>(&fact)) {
      return {again->keys.begin(), again->keys.begin() + again->count};
    }
  }
  return {};
}

constexpr std::string_view kHandles = "handles are worth what the rules say";

}  // namespace

void Driver::send() {
  const auto key = choose_queue();
  if (!key) return;
  const ModelQueue queue = world_.model().queues().at(*key);
  const std::size_t live = world_.store().state().messages().size();
  const std::size_t room = world_.shape().messages_max - std::min(world_.shape().messages_max, live);
  const std::size_t batch = chance_.one_in(2) ? 1 : static_cast<std::size_t>(chance_.between(1, 10));
  const Post post = queue.settings.is_fifo() ? Post::fifo : Post::standard;
  std::vector<Letter> letters;
  for (std::size_t i = 0; i < std::min(batch, room); ++i) {
    letters.push_back(write_letter(chance_, post, world_.shape().body_bytes_max));
  }
  if (!letters.empty()) send_letters(queue, *key, std::move(letters));
}

void Driver::send_letters(const ModelQueue& queue, QueueKey key, std::vector<Letter> letters) {
  std::vector<queue::Draft> drafts;
  for (const Letter& letter : letters) drafts.push_back(draft_of(letter));
  const bool room = world_.journal().has_room();
  const auto expected = expect_sends(world_.model(), queue, letters);
  const auto result = world_.engine().send(queue.identity, drafts);
  const auto records = world_.take_records();
  tell("  {} to {}{}", letters.size(), queue.identity.name, room ? "" : ": no room");
  if (!room) {
    require(!result && result.error().code == ErrorCode::service_unavailable && records.empty(),
            "a full disk refuses what is sent",
            "{}",
            queue.identity.name);
    return;
  }
  require(result.has_value(), "what is sent is accepted", "{}", queue.identity.name);
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const queue::SendOutcome& outcome = result->outcomes[i];
    require(outcome.duplicate == expected[i].duplicate,
            "deduplication windows are exact",
            "{} of {}: {}",
            letters[i].dedup,
            queue.identity.name,
            outcome.duplicate ? "refused" : "accepted");
    if (expected[i].duplicate) {
      const Expected& before = expected[i];
      const bool same = before.forerunner
                            ? result->outcomes[*before.forerunner].message_id == outcome.message_id
                            : before.message_id == outcome.message_id && before.sequence == outcome.sequence;
      require(same, "a duplicate is told who was first", "{}", letters[i].dedup);
      continue;
    }
    require(!records.empty() && fresh < records.front().facts.size(), "what is sent is recorded", "{}", i);
    const auto* fact = std::get_if<queue::MessageSent>(&records.front().facts[fresh++]);
    const Duration delay = letters[i].delay.value_or(queue.settings.delay);
    require(fact != nullptr && fact->queue == key && fact->message_id == outcome.message_id &&
                fact->visible_at == records.front().stamp.now + delay,
            "what is sent is recorded",
            "letter {}",
            i);
    Letter& letter = letters[i];
    letter.key = fact->key;
    letter.queue = key;
    letter.message_id = fact->message_id;
    letter.sent_wall = records.front().stamp.wall;
    letter.visible_at = fact->visible_at;
    stored_bytes_are_the_letters(records.front().stored(fact->body), letter);
    world_.keep(std::move(letter));
  }
  require(fresh == 0 || (records.front().facts.size() == fresh &&
                         result->after >= records.front().sequence),
          "what is sent is recorded",
          "{} facts",
          fresh);
  world_.follow(records);
  world_.settle_answers();
}

void Driver::receive() {
  const auto key = choose_full_queue();
  if (!key) return;
  Ask ask{.queue = *key, .max = static_cast<std::size_t>(chance_.between(1, 10))};
  if (chance_.one_in(2)) ask.visibility = Duration(seconds(chance_.below(30)));
  if (!chance_.one_in(4)) ask.consumer = fmt::format("consumer{}", chance_.below(4));
  if (chance_.one_in(3)) ask.attempt_id = fmt::format("attempt{}", chance_.below(3));
  receive_once(std::move(ask), Duration::zero());
}

void Driver::wait_for_messages() {
  const auto key = choose_queue();
  if (!key || world_.waiters().size() > 6) return;
  Ask ask{.queue = *key, .max = static_cast<std::size_t>(chance_.between(1, 10))};
  if (chance_.one_in(2)) ask.visibility = Duration(seconds(chance_.below(30)));
  if (chance_.one_in(4)) ask.attempt_id = fmt::format("attempt{}", chance_.below(3));
  ask.consumer = "patient";
  std::optional<Duration> wait;
  if (!chance_.one_in(4)) wait = Duration(chance_.between(1, 20'000));
  receive_once(std::move(ask), wait);
}

void Driver::receive_once(Ask ask, std::optional<Duration> wait) {
  const std::uint64_t number = ++waits_;
  const ModelQueue queue = world_.model().queues().at(ask.queue);
  const Duration patience = wait.value_or(queue.settings.receive_wait);
  auto start = world_.engine().receive(queue.identity,
                                       {.max = ask.max,
                                        .visibility = ask.visibility,
                                        .consumer = ask.consumer,
                                        .attempt_id = ask.attempt_id},
                                       wait,
                                       world_.answer_to(number));
  const auto records = world_.take_records();
  std::span<const Record> rest(records);
  const bool own = !records.empty() && concerns(records.front(), ask.queue);
  world_.model();  // Brought to now.
  world_.model().check_receive(ask, own ? &records.front() : nullptr);
  std::vector<Delivery> deliveries;
  if (own) {
    world_.believe(records.front());
    deliveries = world_.deliveries(delivered_by(records.front()));
    rest = rest.subspan(1);
  }
  tell("  {} of {} from {}", deliveries.size(), ask.max, queue.identity.name);
  const bool waits = deliveries.empty() && patience > Duration::zero();
  require(start.answer.has_value() == !waits, "who need not wait has an answer", "{}", number);
  if (waits) {
    world_.add_waiter(number, start.wait, std::move(ask), world_.now() + patience);
  } else {
    require(start.answer->has_value(), "a receive succeeds", "{}", queue.identity.name);
    const auto after = own ? records.front().sequence : 0;
    world_.reply_is_exact(**start.answer, deliveries, after, ask.queue);
    world_.hold_reply(std::move(**start.answer));
  }
  world_.follow(rest);
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

void Driver::remove() {
  const auto key = choose_received_queue();
  if (!key) return;
  const auto handles = choose_handles(*key, static_cast<std::size_t>(chance_.between(1, 4)));
  if (!handles.empty()) remove_with(*key, handles);
}

void Driver::remove_with(QueueKey key, std::span<const Shown> handles) {
  const Model& model = world_.model();
  const bool fifo = model.queues().at(key).settings.is_fifo();
  std::vector<std::optional<ErrorCode>> expected;
  std::vector<MessageKey> deleted;
  std::vector<std::string> texts;
  for (const Shown& shown : handles) {
    const Standing standing = shown.forged ? Standing::foreign : model.standing(shown.handle, key);
    const bool holds = standing == Standing::current || (standing == Standing::stale && !fifo);
    expected.emplace_back();
    if (standing == Standing::foreign) expected.back() = ErrorCode::receipt_handle_is_invalid;
    if (standing == Standing::stale && fifo) expected.back() = ErrorCode::invalid_parameter_value;
    const bool again = std::ranges::find(deleted, shown.handle.key) != deleted.end();
    if (holds && !again) deleted.push_back(shown.handle.key);
    texts.push_back(seal(shown));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto results = world_.engine().remove(identity_of(key), views);
  require(results.has_value(), kHandles, "delete from {}", number(key));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& result = (*results)[i];
    require(result.has_value() != expected[i].has_value() && (result || result.error().code == *expected[i]),
            kHandles,
            "delete of message {}: {}",
            number(handles[i].handle.key),
            result ? "done" : result.error().message);
  }
  const auto records = world_.take_records();
  std::vector<MessageKey> recorded;
  if (!records.empty()) {
    for (const queue::Change& fact : records.front().facts) {
      if (const auto* gone = std::get_if<queue::MessageDeleted>(&fact)) recorded.push_back(gone->key);
    }
  }
  require(recorded == deleted, kHandles, "{} deleted, not {}", recorded.size(), deleted.size());
  tell("  {} of {} from {}", deleted.size(), handles.size(), number(key));
  world_.follow(records);
  world_.settle_answers();
}

void Driver::change_visibility() {
  const auto key = choose_received_queue();
  if (!key) return;
  const auto handles = choose_handles(*key, 1);
  if (handles.empty()) return;
  const Shown& shown = handles.front();
  seconds timeout(chance_.one_in(3) ? 0 : chance_.between(1, 60));
  if (chance_.one_in(16)) timeout = seconds(43'200);
  const Model& model = world_.model();
  const bool fifo = model.queues().at(*key).settings.is_fifo();
  const Standing standing = shown.forged ? Standing::foreign : model.standing(shown.handle, *key);
  std::optional<ErrorCode> expected;
  if (standing == Standing::foreign) {
    expected = ErrorCode::receipt_handle_is_invalid;
  } else if (standing == Standing::gone || (standing == Standing::stale && fifo) ||
             world_.now() + timeout >
                 model.messages().at(shown.handle.key).history.received_at + seconds(43'200)) {
    expected = ErrorCode::invalid_parameter_value;
  }
  const std::string text = seal(shown);
  const engine::Engine::VisibilityRequest request{.handle = text, .timeout = timeout};
  const auto results = world_.engine().change_visibility(identity_of(*key), std::span(&request, 1));
  require(results.has_value(), kHandles, "change visibility in {}", number(*key));
  const auto& result = results->front();
  require(result.has_value() != expected.has_value() && (result || result.error().code == *expected),
          kHandles,
          "visibility of message {}: {}",
          number(shown.handle.key),
          result ? "done" : result.error().message);
  const auto records = world_.take_records();
  const auto* fact = records.empty()
                         ? nullptr
                         : std::get_if<queue::VisibilityChanged>(&records.front().facts.front());
  require(expected ? fact == nullptr
                   : fact != nullptr && fact->key == shown.handle.key &&
                         fact->visible_at == world_.now() + timeout,
          kHandles,
          "visibility of message {}",
          number(shown.handle.key));
  tell("  message {} {}", number(shown.handle.key), timeout.count());
  world_.follow(records);
  world_.settle_answers();
}

}  // namespace redrive::sim
