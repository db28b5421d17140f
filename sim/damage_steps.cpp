// Damaged messages: a disk that changes them, and operators who drop them or read them again.

#include <set>

#include "core/queue/hidden_queues.h"
#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using queue::QueueKey;

constexpr std::string_view kDamaged = "damaged messages are kept until they are dropped";

}  // namespace

void Driver::flip_bit() {
  const auto key = world_.flip_bit();
  if (key) tell("  in message {}", number(*key));
}

// A queue with damaged messages, and these.
std::optional<std::pair<QueueKey, std::vector<MessageKey>>> Driver::choose_damaged() {
  std::vector<std::pair<QueueKey, std::vector<MessageKey>>> found;
  const Model& model = world_.model();
  for (const auto& [key, queue] : model.queues()) {
    if (queue.identity.is_hidden()) continue;
    const auto aside = model.find_by_arn(queue::damaged_of(queue.identity).arn());
    std::vector<MessageKey> keys;
    for (const auto& [message, known] : model.messages()) {
      if (aside && known.queue == *aside) keys.push_back(message);
    }
    if (!keys.empty()) found.emplace_back(key, std::move(keys));
  }
  if (found.empty()) return std::nullopt;
  return chance_.pick(found);
}

// What is listed is what is there, with what is known of it.
void Driver::list_damaged() {
  const auto chosen = choose_damaged();
  if (!chosen) return;
  const auto& [queue, keys] = *chosen;
  const auto page = world_.dead_letters().damage.list(identity_of(queue), {}, 1'000);
  world_.follow(world_.take_records());
  world_.settle_answers();
  require(page.has_value() && page->messages.size() == keys.size() && page->total == keys.size(),
          kDamaged,
          "{} are not listed",
          keys.size());
  for (const dead_letters::DamagedMessage& message : page->messages) {
    const ModelMessage& known = world_.model().messages().at(message.mark.key);
    require(
        message.receive_count == known.receive_count &&
            message.queue_arn == world_.model().names()[number(known.history.events.back().from)],
        kDamaged,
        "message {} is listed as another",
        number(message.mark.key));
    const Uuid id = known.history.message_id.value_or(world_.letter(message.mark.key).message_id);
    require(!message.message_id || *message.message_id == id,
            kDamaged,
            "message {} is listed with a wrong id",
            number(message.mark.key));
  }
}

void Driver::drop_damaged() {
  const auto chosen = choose_damaged();
  if (!chosen) return;
  std::vector<MessageKey> keys(1, chance_.pick(chosen->second));
  if (chance_.one_in(4)) keys.push_back(static_cast<MessageKey>(999'999));
  const auto dropped = world_.dead_letters().damage.drop(identity_of(chosen->first), keys);
  require(dropped.has_value() && *dropped == 1, kDamaged, "one was to be dropped");
  tell("  message {}", number(keys.front()));
  world_.follow(world_.take_records());
  world_.settle_answers();
  require(!world_.model().messages().contains(keys.front()), kDamaged, "it is still there");
}

// Retries with restored bytes, or with bytes that are still damaged.
void Driver::retry_damaged() {
  const auto chosen = choose_damaged();
  if (!chosen) return;
  const auto& [queue, keys] = *chosen;
  const MessageKey key = chance_.pick(keys);
  const bool there = world_.store().state().messages().find(key) != queue::kNoSlot;
  const bool mended = chance_.one_in(2) && there && !world_.disk_fails();
  if (mended) world_.mend(key);
  // A crash may have undone an earlier restore.
  const bool whole = !world_.is_flipped(key);
  const auto from = world_.model().find_by_arn(
      world_.model().names()[number(world_.model().messages().at(key).history.events.back().from)]);
  require(from.has_value(),
          "a deleted queue takes its damaged messages with it",
          "message {}",
          number(key));
  const auto restored =
      world_.dead_letters().damage.retry(identity_of(queue), std::span(&key, 1), {.name = "bob"});
  world_.follow(world_.take_records());
  world_.settle_answers();
  tell("  message {}: {}", number(key), mended);
  // A disk that fails may not give the bytes, though they are whole.
  const std::size_t least = whole && !world_.disk_fails() ? 1 : 0;
  const std::size_t most = whole ? 1 : 0;
  require(restored.has_value() && *restored >= least && *restored <= most,
          "a damaged message comes back when its bytes do",
          "message {}",
          number(key));
  if (*restored == 1) {
    require(world_.model().messages().at(key).queue == *from, kDamaged, "it is elsewhere");
  }
}

// At the end of a run nothing but damaged messages is left, and all of them are damaged.
void Driver::drop_all_damaged() {
  std::vector<std::pair<QueueKey, queue::QueueIdentity>> places;
  for (const auto& [key, queue] : world_.model().queues()) {
    if (queue.identity.is_damaged()) places.emplace_back(key, queue.identity);
  }
  for (const auto& [message, known] : world_.model().messages()) {
    if (!world_.model().queues().at(known.queue).identity.is_damaged()) continue;
    require(world_.was_flipped(message), kDamaged, "message {} is whole", number(message));
  }
  for (const auto& [key, identity] : places) {
    world_.engine().turn([&](engine::Turn& turn) { turn.commit(queue::QueuePurged{key}); });
    world_.follow(world_.take_records());
  }
}

}  // namespace redrive::sim
