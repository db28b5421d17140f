// The world's disk and power: syncing, failing, stopping and recovering.

#include <algorithm>

#include "sim/invariants.h"
#include "sim/violation.h"
#include "sim/world.h"

namespace redrive::sim {

void World::sync(std::function<void()> meanwhile) {
  const journal::Sequence before = journal().appended();
  files_.during_next_sync(std::move(meanwhile));
  const auto synced = journal().sync_once();
  files_.during_next_sync({});
  if (!synced) {
    require(!journal().sync_once(), "after a failed sync nothing is acknowledged", "a second try");
    return storage_failed(synced.error());
  }
  require(*synced == before && journal().synced() == before,
          "a sync covers what was appended before it, and nothing else",
          "{}, not {}",
          *synced,
          before);
  settle_synced();
}

void World::settle_synced() {
  const journal::Sequence synced = journal().synced();
  while (!in_doubt_.empty() && in_doubt_.front().sequence <= synced) {
    synced_model_.apply(in_doubt_.front());
    in_doubt_.pop_front();
  }
}

void World::tick() {
  for (Waiter& waiter : waiters_) waiter.expired = waiter.deadline <= now();
  engine().tick();
  follow(take_records());
  settle_answers();
}

std::optional<queue::MessageKey> World::message_at(journal::Location at) const {
  const auto& table = server_->store().state().messages();
  for (queue::Slot slot = 0; slot < table.end(); ++slot) {
    const queue::BodyRef& body = table[slot].body;
    if (table[slot].key != queue::MessageKey::none && body.segment == at.segment &&
        body.offset == at.offset) {
      return table[slot].key;
    }
  }
  return std::nullopt;
}

void World::maintain(const std::function<void(queue::MessageKey)>& meanwhile) {
  const std::uint64_t before = journal().checkpoints();
  int left = meanwhile ? 2 : 0;
  bool busy = false;
  const auto interrupt = [&](std::optional<queue::MessageKey> key) {
    if (!key || busy || left == 0) return;
    --left;
    busy = true;
    follow(take_records());
    settle_answers();
    meanwhile(*key);
    busy = false;
  };
  if (meanwhile) {
    journal().on_read([&](journal::Location at) { interrupt(message_at(at)); });
    graveyard_.meanwhile = [&](queue::MessageKey key) { interrupt(key); };
  }
  const auto more = engine().maintain();
  journal().on_read({});
  graveyard_.meanwhile = {};
  const auto records = take_records();
  for (const Record& record : records) {
    for (const queue::Change& fact : record.facts) {
      const auto* gone = fact.as<queue::MessageDeleted>();
      require(gone == nullptr || model().queues().at(gone->queue).identity.is_settled(),
              "nothing is deleted in the background",
              "record {}",
              record.sequence);
    }
  }
  follow(records);
  settle_answers();
  totals_.checkpoints += journal().checkpoints() - before;
  if (!more) storage_failed(more.error());
}

// An archived message is already in the archive, unchanged.
void World::archived_is_in_the_archive(const queue::MessageArchived& fact) {
  constexpr std::string_view kArchived = "what is archived is in the archive";
  const auto found = graveyard_.graves.find(std::string(fact.place));
  require(found != graveyard_.graves.end(), kArchived, "message {}", number(fact.key));
  const Letter& sent = letter(fact.key);
  stored_bytes_are_the_letters(found->second.stored, sent);
  require(fact.lineage == sent.message_id, kArchived, "message {}: its lineage", number(fact.key));
}

void World::housekeep() {
  const auto more = journal().housekeep();
  if (!more) storage_failed(more.error());
}

void World::fail_later(std::uint64_t operations) {
  files_.stop_after(operations);
  fault_expected_ = true;
}

void World::fail_sync_later(std::uint64_t syncs) {
  files_.fail_sync_after(syncs);
  fault_expected_ = true;
}

void World::limit_space(std::optional<std::uint64_t> bytes) {
  files_.limit_space(bytes);
  space_limited_ = bytes.has_value();
}

// A storage error is final: nothing more may be acknowledged.
void World::storage_failed(const Error& error) {
  const bool expected = error.code == ErrorCode::storage_full ? space_limited_ : fault_expected_;
  require(expected, "storage fails only when told to", "{}", error.message);
  ++totals_.storage_failures;
  end(chance_.one_in(2) ? Ending::killed : Ending::power_lost);
}

void World::end(Ending ending) {
  read_held_replies();
  if (ending == Ending::clean) {
    stopping_ = true;
    engine().stop_waiting();
    settle_answers();
    stopping_ = false;
    read_held_replies();
    if (!journal().sync_once()) ending = Ending::power_lost;
  }
  const journal::Sequence synced = journal().synced();
  const journal::Sequence appended = journal().appended();
  had_spare_ = journal().totals().spares > 0;
  held_.clear();
  waiters_.clear();
  answers_.clear();
  server_.reset();
  if (ending == Ending::power_lost) {
    SeededIds fate = chance_.details();
    files_.crash(fate);
    fault_expected_ = false;
  }
  let_time_pass_while_down();
  open_again();
  resume(synced, appended);
}

void World::let_time_pass_while_down() {
  if (chance_.one_in(2)) clock_.advance(Duration(chance_.below(60'000)));
  if (chance_.one_in(16)) clock_.advance(std::chrono::hours(chance_.below(48)));
  if (chance_.one_in(8)) clock_.jump_wall(std::chrono::minutes(chance_.between(-600, 600)));
}

void World::open_again() {
  // Recovery may be interrupted, too.
  if (chance_.one_in(4)) fail_later(chance_.below(30));
  for (int tries = 0; tries < 10; ++tries) {
    auto opened = Server::open({files_, clock_, ids_, graveyard_}, shape_);
    if (opened) {
      server_ = std::move(*opened);
      return;
    }
    const Error& error = opened.error();
    const bool full = error.code == ErrorCode::storage_full && space_limited_;
    const bool failed = error.code == ErrorCode::storage_io && fault_expected_;
    require(full || failed, "recovery reads what was written", "{}", error.message);
    require(!full || !had_spare_,
            "a full disk does not keep a server with a reserve from starting",
            "{}",
            error.message);
    if (full) limit_space(std::nullopt);
    if (failed) {
      SeededIds fate = chance_.details();
      files_.crash(fate);
      fault_expected_ = false;
    }
  }
  require(false, "recovery reads what was written", "it never succeeds");
}

// Rolls the model back to what survived, and compares it with the recovered state.
void World::resume(journal::Sequence synced, journal::Sequence appended) {
  const journal::Sequence survived = server_->recovered().last_sequence;
  require(survived >= synced,
          "nothing acknowledged is lost",
          "record {} is the last, {} was synced",
          survived,
          synced);
  require(survived <= appended, "nothing is invented", "{} of {}", survived, appended);
  while (!in_doubt_.empty() && in_doubt_.front().sequence <= survived) {
    synced_model_.apply(in_doubt_.front());
    in_doubt_.pop_front();
  }
  totals_.records_lost += in_doubt_.size();
  ++totals_.recoveries;
  in_doubt_.clear();
  now_model_ = synced_model_;
  std::erase_if(issued_, [&](const Issued& handle) { return handle.after > survived; });
  time_went_on();
  follow(take_records());
  paces_.clear();
  halts_due_.clear();
  for (const auto& [key, task] : now_model_.tasks()) paces_[key] = {.since = now()};
  check();
  bodies_are_whole();
  sync();
}

// Engine time continues from the last record, by as much as the wall clock has moved since. More
// than a day must be confirmed first.
void World::time_went_on() {
  const queue::Stamp& last = synced_model_.last_stamp();
  if (!synced_model_.started()) return;
  Duration away = std::max(Duration::zero(), clock_.wall() - last.wall);
  if (away > engine::ClockWatch::kUnsuspectedMax) {
    require(engine().held_time() == away,
            "a long time away waits to be confirmed",
            "{} ms",
            away.count());
    away = Duration::zero();
  }
  require(now() == last.now + away,
          "time goes on after a restart",
          "{}, not {}",
          now().ms(),
          (last.now + away).ms());
}

void World::replay_elsewhere() {
  if (fault_expected_) return;
  sync();
  if (fault_expected_ || !in_doubt_.empty()) return;
  FaultyFiles copy;
  const auto names = files_.list();
  if (!names) return;
  for (const std::string& name : *names) copy.put(name, *files_.bytes(name));
  store::Store second({.checkpoint_bytes_min = shape_.checkpoint_bytes});
  journal::Recovered recovered;
  const auto opened = replay_into(second, copy, shape_, recovered);
  require(opened.has_value(),
          "recovery reads what was written",
          "a copy: {}",
          opened ? "" : opened.error().message);
  const auto attached = second.attach(**opened);
  require(attached.has_value(), "recovery reads what was written", "a copy lacks bodies");
  const View view{second.state(), model(), now()};
  memory_equals_the_model(view);
  second.state().advance_all(view.now);
  mailbox_structures_agree(view.state);
  counters_equal_a_recount(view);
  walks_find_what_is_available(view);
}

}  // namespace redrive::sim
