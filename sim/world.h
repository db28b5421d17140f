#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sim/chance.h"
#include "sim/faulty_files.h"
#include "sim/letter.h"
#include "sim/model.h"
#include "sim/server.h"

namespace redrive::sim {

// How a run of the server comes to its end.
enum class Ending {
  clean,       // Told to stop: everything is synced first.
  killed,      // The process is gone; what it had written stays.
  power_lost,  // What was not synced is up to chance.
};

// What a consumer must be told about one message.
struct Delivery {
  queue::MessageKey key{};
  std::uint32_t generation = 0;
  std::uint32_t receive_count = 0;
  std::uint64_t sequence = 0;
  Timestamp first_received_wall;
  Timestamp sent_wall;
  std::optional<Uuid> message_id;
  std::string dead_letter_source;
  bool dedup_is_message_id = false;
};

// What a receive's record gave to its caller.
std::vector<queue::MessageKey> delivered_by(const Record& record);

// A receive that waits.
struct Waiter {
  std::uint64_t number = 0;
  engine::WaitId id = 0;
  Ask ask;
  Timestamp deadline;
  bool expired = false;
  std::vector<Delivery> deliveries;  // Not empty: it was served,
  journal::Sequence after = 0;       // by this record.
};

// One server, its disk and its time, and the model beside it.
//
// Two models are kept. One follows every record at once: it is what the server should know now. The
// other follows what has been synced: it is what a crash must leave. Between them lie the records
// in doubt; a crash keeps a prefix of them, and only the journal knows which. What was acknowledged
// is never in doubt: that is the promise, and it is checked at every recovery.
class World {
 public:
  World(Chance& chance, const Shape& shape, std::uint64_t seed);
  ~World();

  engine::Engine& engine() { return server_->engine(); }
  dead_letters::DeadLetters& dead_letters() { return server_->dead_letters(); }
  WatchedJournal& journal() { return server_->journal(); }
  store::Store& store() { return server_->store(); }
  FaultyFiles& files() { return files_; }
  Graveyard& graveyard() { return graveyard_; }
  bool disk_fails() const { return fault_expected_; }
  ManualClock& clock() { return clock_; }
  const Shape& shape() const { return shape_; }
  Timestamp now() const { return server_->engine().now(); }
  const Model& model();  // As of now.

  // The records of the operation just made, oldest first.
  std::vector<Record> take_records();
  void believe(const Record& record);
  // Records that followed from an operation rather than being it: waiting receives served, messages
  // moved by tasks, background work.
  void follow(std::span<const Record> records);

  // Letters the server accepted, in all their editions.
  void keep(Letter letter, std::uint32_t edition = 0);
  // The one in force.
  const Letter& letter(queue::MessageKey key) const;
  // The one that was archived.
  const Letter& letter(const ModelArchived& archived) const {
    return letters_.at({archived.key, archived.edition});
  }

  // What a consumer must be told now about these messages.
  std::vector<Delivery> deliveries(std::span<const queue::MessageKey> keys) const;
  void reply_is_exact(const engine::ReceiveOutcome& outcome, std::span<const Delivery> deliveries,
                      journal::Sequence after, queue::QueueKey queue);
  // Keeps a reply to read its bodies later, as a slow connection would.
  void hold_reply(engine::ReceiveOutcome outcome);
  void read_held_replies();

  // Handles that consumers have been given.
  struct Issued {
    queue::ReceiptHandle handle;
    journal::Sequence after;
  };
  std::deque<Issued>& issued() { return issued_; }

  void add_waiter(std::uint64_t number, engine::WaitId id, Ask ask, Timestamp deadline);
  void forget_waiter(std::uint64_t number);
  std::deque<Waiter>& waiters() { return waiters_; }
  std::function<void(Result<engine::ReceiveOutcome>)> answer_to(std::uint64_t number);
  void settle_answers();

  // `meanwhile` runs between the write and the end of the sync, if there is something to write.
  void sync(std::function<void()> meanwhile = {});
  void tick();
  // `meanwhile` runs, at most twice, while the maintenance has read or archived a message and has
  // not yet recorded what follows from it.
  void maintain(const std::function<void(queue::MessageKey)>& meanwhile = {});
  void housekeep();

  // Everything is done that is due within this time: ticks come when the engine wants them.
  void let_pass(Duration time);
  // What let_pass() has to reach until every policy has done what it says.
  Duration time_for_policies();
  // No dead letter waits for a policy, but for those that come from one of these queues, which were
  // not always there.
  void policies_have_acted(const std::set<std::string>& but_of);
  // Segments without live records are free.
  void space_has_come_back();

  // Faults: the next ones of their kind are expected.
  void fail_later(std::uint64_t operations);  // The machine stands still, then loses power.
  void fail_sync_later(std::uint64_t syncs);
  void limit_space(std::optional<std::uint64_t> bytes);

  // Flips a bit in the stored bytes of some message on the disk, if there is one to choose: whose.
  std::optional<queue::MessageKey> flip_bit();
  // Undoes flip_bit in the bytes of this message.
  void mend(queue::MessageKey key);
  // Whether the bytes on disk differ from what was written there.
  bool is_flipped(const queue::BodyRef& body) const {
    return flips_.contains({body.segment, body.offset});
  }
  bool is_flipped(queue::MessageKey key);
  // The same, or whether it had before it was mended.
  bool was_flipped(queue::MessageKey key);

  void end(Ending ending);
  // Everything holds.
  void check();
  // A second server, started from a copy of the files, knows what this one knows.
  void replay_elsewhere();
  void bodies_are_whole();

  struct Totals {
    std::uint64_t records = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t redriven = 0;
    std::uint64_t failed = 0;
    std::uint64_t grouped = 0;
    std::uint64_t discarded = 0;
    std::uint64_t edited = 0;
    std::uint64_t flipped = 0;
    std::uint64_t damaged = 0;
    std::uint64_t archived = 0;
    std::uint64_t archived_by_policy = 0;  // Among those.
    std::uint64_t unarchived = 0;
    std::uint64_t halted = 0;
    std::uint64_t recoveries = 0;
    std::uint64_t records_lost = 0;
    std::uint64_t checkpoints = 0;
    std::uint64_t relocations = 0;
    std::uint64_t storage_failures = 0;
  };
  const Totals& totals() const { return totals_; }

 private:
  struct Answer {
    std::uint64_t number;
    Result<engine::ReceiveOutcome> outcome;
  };
  struct TaskPace {
    Timestamp since;
    std::uint64_t moved = 0;
  };

  void follow_receive(const Record& record, queue::QueueKey queue);
  void count(const queue::Change& fact);
  void moves_keep_their_pace(const Record& record);
  void relocations_are_copies(const Record& record);
  void settle_answer(const Waiter& waiter, Answer& answer);
  void nobody_waits_in_vain();
  void bodies_are_held();
  void queues_are_in_order();
  void settle_synced();
  void storage_failed(const Error& error);
  void let_time_pass_while_down();
  void open_again();
  void archived_is_in_the_archive(const queue::MessageArchived& fact);
  void resume(journal::Sequence synced, journal::Sequence appended);
  void time_went_on();
  void jobs_have_halted();
  std::optional<queue::MessageKey> message_at(journal::Location at) const;
  void read_body(const store::Store& store, const queue::BodyRef& body, const Letter& letter);
  void read_received(const engine::Received& message, const Letter& letter);
  void damaged_is_damaged(const queue::MessageDamaged& fact);
  bool may_flip(std::uint32_t segment) const;
  std::vector<std::pair<queue::MessageKey, std::uint64_t>> flippable();

  Chance& chance_;
  const Shape shape_;
  ManualClock clock_;
  SeededIds ids_;
  FaultyFiles files_;
  Graveyard graveyard_;
  Model now_model_;
  Model synced_model_;
  std::deque<Record> in_doubt_;
  std::map<std::pair<queue::MessageKey, std::uint32_t>, Letter> letters_;
  std::deque<Waiter> waiters_;
  std::deque<Issued> issued_;
  std::map<queue::TaskKey, TaskPace> paces_;
  std::map<queue::TaskKey, Timestamp> halts_due_;  // Since when a job has had to halt.
  struct Flip {
    std::uint64_t offset;
    unsigned bit;
  };
  // By where the stored bytes begin. Places are never used twice.
  std::map<journal::Location, std::vector<Flip>> flips_;
  std::set<queue::MessageKey> mended_;
  bool fault_expected_ = false;
  bool space_limited_ = false;
  bool had_spare_ = false;  // When the last server ended.
  bool stopping_ = false;
  Totals totals_;
  std::unique_ptr<Server> server_;
  // These pin what the server has, so they end before it does.
  std::vector<Answer> answers_;
  struct HeldReply {
    engine::ReceiveOutcome outcome;
    std::vector<std::uint32_t> editions;  // Of each message.
  };
  std::deque<HeldReply> held_;
};

}  // namespace redrive::sim
