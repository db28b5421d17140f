#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/age_order.h"
#include "core/queue/group_names.h"
#include "core/queue/message_table.h"
#include "core/queue/tenant_load.h"

namespace redrive::queue {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// Messages that share a MessageGroupId; index 0 is for those that have none.
//
// Standard queue: only visible messages are listed; those whose timeout ended wait in `returned`,
// ahead of the fresh ones. FIFO queue: `fresh` holds all messages of the group in order, visible or
// not; it is in the mailbox's rotation exactly while its first message is visible.
struct Group {
  struct List {
    Slot head = kNoSlot;
    Slot tail = kNoSlot;
  };
  List fresh;
  List returned;
  std::uint32_t total = 0;  // Messages in any phase; the group goes when the last one does.
  std::uint32_t in_flight = 0;
  std::uint32_t delayed = 0;
  std::uint32_t rotation_prev = UINT32_MAX;
  std::uint32_t rotation_next = UINT32_MAX;
  bool in_rotation = false;
  MessageKey indexed_head =
      MessageKey::none;  // Under which the standard queue's tenant index has it.
};

// When a message that is not visible becomes so. Contains the sort key: messages are far apart in
// memory, and reading one for each comparison would be most of the cost.
struct HiddenTimer {
  Timestamp at;
  MessageKey key;
  Slot slot;

  friend bool operator<(const HiddenTimer& a, const HiddenTimer& b) {
    return a.at != b.at ? a.at < b.at : a.key < b.key;
  }
};

// The messages of one queue between its creation (or last purge) and its deletion (or next purge).
//
// A message is visible, in flight or delayed, never two of them; the three counts add up to size().
// Time enters as an argument: `advance` must be called with the present time before anything is
// looked up.
class Mailbox {
 public:
  enum class Kind : std::uint8_t { standard, fifo };
  using AgeMark = queue::AgeMark;

  Mailbox(MessageTable& table, std::uint32_t index, Kind kind, QueueKey owner);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  QueueKey owner() const { return owner_; }  // none: purged or deleted, waiting to be emptied.
  void disown();
  // Adds how many messages there are to `total`, from now on and until the mailbox is disowned.
  void count_in(std::size_t& total) { total_ = &total; }
  bool is_fifo() const { return kind_ == Kind::fifo; }
  std::size_t visible() const { return visible_; }
  std::size_t in_flight() const { return in_flight_; }
  std::size_t delayed() const { return delayed_; }
  std::size_t size() const { return visible_ + in_flight_ + delayed_; }

  // Prefetches what enter() and oldest_until() read.
  void prefetch_ends() const;

  // Puts a message behind all others of its group. Its sent_at, visible_at and phase are set by the
  // caller.
  void enter(Slot slot, std::string_view group);
  void leave(Slot slot);
  // A visible message goes to a consumer until `visible_at`.
  void deliver(Slot slot, Timestamp visible_at);
  // A message in flight stays hidden until `visible_at`, or, when that is not after `now`, is
  // visible again.
  void set_visible_at(Slot slot, Timestamp visible_at, Timestamp now);
  // Makes a message visible, whatever its visible_at.
  void reveal(Slot slot);
  // Sets a new end for a delayed message.
  void set_delay_end(Slot slot, Timestamp visible_at, Timestamp now);

  // From now on delayed messages at or before `to` have this delay. redelay() updates their timers;
  // until then delay_end() has the new time.
  void begin_redelay(Duration delay, const AgeMark& to);
  bool is_redelaying() const { return redelay_.has_value(); }
  // Visits at most `max` messages; returns how many.
  std::size_t redelay(Timestamp now, std::size_t max);
  // When a delayed message becomes visible.
  Timestamp delay_end(Slot slot) const;

  // Makes up to `max` messages visible that are due at `now`; returns how many.
  std::size_t advance(Timestamp now, std::size_t max = SIZE_MAX);
  // The oldest message, if it was sent at or before `limit`; kNoSlot otherwise.
  Slot oldest_until(Timestamp limit) const;
  Slot oldest() const;

  AgeMark age_of(Slot slot) const { return age_in(table_, slot); }
  // The next `max` messages behind that place, oldest first, in any phase. Visits at most a few
  // hundred more, however many there are, even if the message at `after` is gone.
  std::vector<Slot> page(const AgeMark& after, std::size_t max) const;
  // The same in the other direction: the next `max` before that place, youngest first.
  std::vector<Slot> page_before(const AgeMark& before, std::size_t max) const;

  // When the next hidden message becomes visible; kNever when none is hidden.
  Timestamp next_visible_at() const;

  std::string_view group_name(Slot slot) const { return group_names_[table_[slot].group]; }
  std::size_t groups() const { return group_names_.size(); }
  // Of those, how many have messages in flight.
  std::size_t groups_in_flight() const { return groups_in_flight_; }

  // Standard: messages of tenants that are noisy at this moment, see TenantLoad. Found without
  // visiting the others.
  struct NoisyGroups {
    std::size_t groups = 0;
    std::size_t visible = 0;
    std::size_t in_flight = 0;
    std::size_t delayed = 0;
  };
  NoisyGroups noisy_groups() const;
  bool is_noisy(std::uint32_t group) const { return is_noisy(group, 0, 0); }
  // Standard: of the visible messages of quiet tenants, the oldest of the one that is served first.
  Slot first_quiet() const;
  // FIFO: a consumer has messages of its group, so those behind must not overtake.
  bool is_blocked(Slot slot) const {
    return is_fifo() && groups_[table_[slot].group].in_flight > 0;
  }

  // All that is not visible, for checks.
  std::vector<Slot> hidden() const;

  // Between begin_loading and finish_loading no list is kept, only each message's own fields and
  // the counts: messages come in any order. `members` are all of them, in any order; `order` gives
  // each one's place in the queue.
  void begin_loading() { loading_ = true; }
  void finish_loading(std::vector<Slot>& members, const std::function<std::uint64_t(Slot)>& order);

  template <class Visit>
  void for_each(Visit visit) const {
    for (Slot at = youngest_; at != kNoSlot;) {
      const Slot before = table_[at].older;  // Visiting may erase.
      visit(at);
      at = before;
    }
    odd_ages_.for_each(visit);
  }
  // Takes messages out of a mailbox that is being torn down, one by one, without keeping its lists.
  Slot take_any();

 private:
  friend class ReadyWalk;

  std::uint32_t group_for(std::string_view name);
  void drop_group_if_empty(std::uint32_t group);
  void list_push_back(Group::List& list, Slot slot);
  void list_remove(Group::List& list, Slot slot);
  void make_visible(Slot slot);
  void hide(Slot slot);
  void link_loaded(Slot slot);
  void refresh_rotation(std::uint32_t group);
  void rotation_remove(std::uint32_t group);
  void index_tenant(std::uint32_t group);
  MessageKey head_key(const Group& group) const;

  bool older_than(Slot a, Slot b) const;
  void timer_insert(Slot slot);
  void timer_remove(Slot slot);
  void age_insert(Slot slot);
  void age_remove(Slot slot);
  bool in_age_list(const AgeMark& mark) const;
  Slot first_behind(const AgeMark& mark) const;
  Slot last_before(const AgeMark& mark) const;
  void leave_milestone(Slot slot);
  void hold_in_group(std::uint32_t group);
  void let_go_in_group(std::uint32_t group);
  void note_arrival(const Message& message);
  void note_backlog(std::uint32_t group);
  bool awaits_redelay(Slot slot) const;
  void enter_phase(const Message& message);
  void leave_phase(const Message& message);
  // As it is after that many more have been delivered, to this group and in all.
  bool is_noisy(std::uint32_t group, std::size_t more, std::size_t more_in_all) const;

  MessageTable& table_;
  std::uint32_t index_;
  Kind kind_;
  QueueKey owner_;
  bool loading_ = false;
  std::size_t visible_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t delayed_ = 0;
  std::size_t* total_ = nullptr;
  std::size_t groups_in_flight_ = 0;
  Timestamp now_;                     // Of the last advance().
  std::unique_ptr<TenantLoad> load_;  // Standard queues in which a named group has been seen.

  std::vector<Group> groups_;  // By the number of the name.
  GroupNames group_names_;
  std::uint32_t rotation_head_ =
      UINT32_MAX;  // FIFO: groups whose first message is visible, least recently served first.
  std::uint32_t rotation_tail_ = UINT32_MAX;
  std::set<std::pair<MessageKey, std::uint32_t>>
      tenants_;  // Standard: named groups with visible messages, oldest first.

  std::vector<HiddenTimer> timers_;  // Binary heap of all that is not visible.
  Slot oldest_ = kNoSlot;            // Age list: AgeMarks rise from oldest to youngest.
  Slot youngest_ = kNoSlot;
  // Every kMilestoneEvery-th entry of the list, oldest first, so that a place is found without
  // walking the whole list. A milestone outlives its message: its presence is checked on use.
  std::deque<AgeMark> milestones_;
  std::uint32_t since_milestone_ = 0;
  AgeOrder odd_ages_;  // Messages that arrived out of order.
  struct Redelay {
    Duration delay;
    AgeMark to;
    AgeMark done{Timestamp(INT64_MIN)};
  };
  std::optional<Redelay> redelay_;
};

// Walks the visible messages in the order in which a receive takes them, without changing anything.
//
// FIFO: as many as possible from one group, then the next in rotation; within a group it stops at
// the first message that is not visible. Standard: oldest first, but a tenant (MessageGroupId) that
// is noisy (see TenantLoad) comes after the quiet ones, and among noisy tenants the one with the
// fewest messages in flight comes first.
class ReadyWalk {
 public:
  explicit ReadyWalk(const Mailbox& mailbox);
  Slot next();  // kNoSlot at the end.

 private:
  struct Cursor {
    std::uint32_t group;
    Slot at;
    bool in_returned;
    std::uint32_t taken = 0;
  };
  Slot next_fifo();
  Slot next_tenant();
  Cursor cursor_for(std::uint32_t group) const;
  Slot take(Cursor& cursor);
  bool noisy(const Cursor& cursor) const {
    return box_.is_noisy(cursor.group, cursor.taken, taken_);
  }
  Cursor* find_cursor(std::uint32_t group);

  const Mailbox& box_;
  std::uint32_t fifo_group_;
  Slot fifo_at_ = kNoSlot;
  Cursor ungrouped_{};
  std::vector<Cursor> cursors_;  // Of the tenants walked so far.
  std::set<std::pair<MessageKey, std::uint32_t>>::const_iterator first_unwalked_;
  std::size_t taken_ = 0;
};

}  // namespace redrive::queue
