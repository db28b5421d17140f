#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/engine/engine.h"
#include "dead_letters/policy/decide_policy.h"
#include "dead_letters/policy/policy_book.h"
#include "dead_letters/view/peeked.h"

namespace redrive::dead_letters {

// A message on its way into the archive.
struct ArchiveItem {
  std::string target;       // As the policy names it: bucket/prefix.
  std::string_view reason;  // Why it goes.
  std::string queue_arn;
  Peeked message;
  std::string stored;  // Its bytes.
  Timestamp wall;
};
// Stores a message permanently and returns its place; without an error the message may be removed.
// Called outside the turn. Empty: there is no archive.
using Archive = std::function<Result<std::string>(const ArchiveItem&)>;

// Carries out the policies of dead-letter queues: redrives with growing pauses, and discards or
// archives what that did not help. decide_policy says what is due and when; this class keeps the
// schedule, which is rebuilt from the messages at every start.
class Policies final : public engine::Extension {
 public:
  Policies(engine::Engine& engine, const PolicyBook& book, Archive archive)
      : engine_(engine), book_(book), archive_(std::move(archive)) {}

  void start(engine::Turn& turn) override;
  void noted(engine::Turn& turn, const engine::Noted& noted) override;
  void run(engine::Turn& turn) override;
  bool maintain() override;
  void reset(engine::Turn& turn) override;

 private:
  // A dead letter for which a policy will do something.
  struct Due {
    Timestamp at;
    queue::MessageKey message;
    // Its order in the queue at that time: a message that died again since has its own entry.
    std::uint64_t place;

    friend auto operator<=>(const Due&, const Due&) = default;
  };
  using Dues = std::set<Due>;
  // When the policy of one queue looks at which of its dead letters.
  struct Schedule {
    queue::DeadLetterPolicy policy;  // Dues were computed from it, and from the next.
    std::chrono::seconds retention{};
    Dues dues;
    Timestamp wake = kNever;  // Its entry in wakes_.
    // Messages up to scan_to are still to be scanned, behind this mark.
    std::optional<queue::Mailbox::AgeMark> scanned;
    std::uint64_t scan_to = 0;
  };
  struct ToArchive {
    queue::QueueKey queue;
    queue::MessageKey message;
    std::string_view reason;
  };

  void adopt(engine::Turn& turn, queue::QueueKey key);
  void scan(engine::Turn& turn, std::size_t max);
  Schedule& schedule_of(const queue::Queue& queue, const queue::DeadLetterPolicy& policy);
  void rearm(queue::QueueKey queue, Schedule& schedule);
  void rearm();
  void retire(queue::QueueKey queue);
  void follow(engine::Turn& turn, const queue::Queue& queue, queue::MessageKey key);
  bool run_one(engine::Turn& turn);
  bool apply(engine::Turn& turn, queue::Queue& queue, queue::Slot slot,
             const queue::DeadLetterPolicy& policy);
  void free_retired();
  std::size_t archive_due();
  void archive_one(queue::QueueKey queue, ArchiveItem& item);
  void let_go_archived(queue::QueueKey queue, const ArchiveItem& item, std::string_view place);

  engine::Engine& engine_;
  const PolicyBook& book_;
  const Archive archive_;
  // In turn.
  std::map<queue::QueueKey, Schedule> schedules_;
  std::set<std::pair<Timestamp, queue::QueueKey>> wakes_;
  std::set<queue::QueueKey> scans_;  // Queues that are not scanned to the end.
  Timestamp scan_at_ = kNever;       // Now, while there are any.
  std::vector<Dues> retired_;        // To be freed outside the turn.
  std::deque<ToArchive> to_archive_;
};

}  // namespace redrive::dead_letters
