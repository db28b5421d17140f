// Messages archived by the consumers that received them, and restored.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

constexpr std::string_view kPutAway = "who received it last may put it away, and nobody else";
constexpr std::string_view kBack = "what comes back from an archive comes back once";

template <class Fact>
const Fact* find_last_fact(std::span<const Record> records) {
  const Fact* found = nullptr;
  for (const Record& record : records) {
    for (const queue::Change& change : record.facts) {
      if (const auto* fact = change.as<Fact>()) found = fact;
    }
  }
  return found;
}

}  // namespace

// Like the worker: look, copy, and only then release. A crash may come before each step.
void Driver::archive_held() {
  const auto from = choose_received_queue();
  if (!from) return;
  const auto handles = choose_handles(*from, 1);
  if (handles.empty()) return;
  const Shown& shown = handles.front();
  const std::string text = seal(shown);
  const std::string_view view = text;
  const auto held = world_.dead_letters().lineages.held(identity_of(*from), std::span(&view, 1));
  require(held.has_value(), kPutAway, "queue {}", number(*from));
  world_.follow(world_.take_records());
  world_.settle_answers();
  // As of now: a waiting receive may have got this one since it was looked at.
  const auto expected = move_refusal(shown, *from, *from);
  const auto& message = held->messages.front();
  const bool readable = !world_.disk_fails() && !world_.is_flipped(shown.handle.key);
  if (!message && !readable) return;
  require(message.has_value() || expected.has_value(),
          kPutAway,
          "message {}: to look at",
          number(shown.handle.key));
  if (!message) return;
  std::string stored(message->message.body.size, '\0');
  if (!world_.engine().read_body(message->message.body, stored.data())) return;
  const auto place = world_.graveyard().bury(message->message, std::move(stored));
  if (!place || chance_.one_in(6)) return;  // Killed before it could release.
  const dead_letters::ArchivedByHolder archived{.handle = text, .place = *place};
  const auto done = world_.dead_letters().lineages.archive_held(
      identity_of(*from), std::span(&archived, 1), {.name = "worker", .reason = {}});
  if (!done || (!done->front() && !readable)) return;
  require(
      is_as_expected(done->front(), expected), kPutAway, "message {}", number(shown.handle.key));
  if (expected) return;
  tell("  message {} is archived", number(shown.handle.key));
  world_.follow(world_.take_records());
  world_.settle_answers();
  require(!world_.model().messages().contains(shown.handle.key), kPutAway, "it is still there");
}

// Sets a policy on a queue with dead letters that soon ends in the archive: for letters that have
// used up their redrives, for those about to expire, or for both.
void Driver::doom() {
  std::vector<queue::QueueKey> queues;
  std::uint32_t redrives = 1;
  for (const auto& [key, message] : world_.model().messages()) {
    const bool dead = message.history.dead_letter_source != queue::NameIndex::none;
    if (!dead || identity_of(message.queue).is_hidden()) continue;
    queues.push_back(message.queue);
    redrives = std::max<std::uint32_t>(redrives, message.history.redrives);
  }
  if (queues.empty()) return;
  const queue::QueueKey key = chance_.pick(queues);
  queue::QueueSettings settings = world_.model().queues().at(key).settings;
  using Then = queue::DeadLetterPolicy::Then;
  settings.dead_letters = {.redrives_max = redrives,
                           .redrive_after = std::chrono::seconds(chance_.below(5)),
                           .then = chance_.one_in(4) ? Then::park : Then::archive,
                           .archive_expiring = chance_.one_in(2),
                           .archive = "graveyard"};
  // Expiring means within ten minutes.
  if (settings.dead_letters->archive_expiring) settings.retention = std::chrono::seconds(900);
  world_.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::QueueSettingsChanged{key, settings});
  });
  tell("  {} archives", identity_of(key).name);
  world_.follow(world_.take_records());
  world_.settle_answers();
}

void Driver::unarchive() {
  const auto to = choose_queue();
  if (!to || world_.model().archived().empty() || !world_.journal().has_room()) return;
  const ModelArchived archived = chance_.pick(world_.model().archived()).second;
  const ModelQueue queue = world_.model().queues().at(*to);
  Letter letter = world_.letter(archived);
  if (queue.settings.is_fifo() != !letter.dedup.empty()) return;
  const Graveyard::Grave& grave = world_.graveyard().graves.at(archived.known.place);
  const bool again = chance_.one_in(4);
  const bool back = archived.known.restored_wall != Timestamp();
  const bool repeated = queue.settings.is_fifo() &&
                        world_.model().find_dedup(queue, letter.group, letter.dedup) != nullptr;
  dead_letters::Unarchive message{.draft = draft_of(letter),
                                  .lineage = archived.known.lineage,
                                  .archived_as = archived.known.message_id,
                                  .told = grave.told,
                                  .again = again};
  message.draft.delay = std::chrono::seconds(0);
  const auto done = world_.dead_letters().lineages.unarchive(
      queue.identity, std::span(&message, 1), {.name = "ada", .reason = "fixed"});
  const auto records = world_.take_records();
  require(done.has_value(), kBack, "{}", queue.identity.name);
  require(done->front().before == ((back && !again) || repeated),
          kBack,
          "message {} to {}",
          number(archived.key),
          queue.identity.name);
  tell("  message {} to {}: {}", number(archived.key), number(*to), !done->front().before);
  if (const auto* sent = find_last_fact<queue::MessageSent>(records); !done->front().before) {
    letter.key = sent->key;
    letter.queue = *to;
    letter.message_id = archived.known.lineage;
    letter.sent_wall = records.back().stamp.wall;
    letter.visible_at = sent->visible_at;
    world_.keep(letter);
  }
  world_.follow(records);
  world_.settle_answers();
}

}  // namespace redrive::sim
