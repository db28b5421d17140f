#include "core/queue/mailbox.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>

#include "base/prefetch.h"

namespace redrive::queue {
namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;
// A message of a standard queue that was returned this often goes behind the fresh ones, so that a
// poison message does not delay all others.
constexpr std::uint32_t kReturnsToTheBack = 3;
constexpr std::uint32_t kMilestoneEvery = 256;
constexpr std::size_t kMilestonesMin = 64;
constexpr std::size_t kRedelayedAtOnce = 1000;

// A binary heap that stores each message's position in the message.
struct TimerHeap {
  std::vector<HiddenTimer>& heap;
  MessageTable& table;

  void place(std::size_t at, const HiddenTimer& timer) {
    heap[at] = timer;
    table[timer.slot].timer = static_cast<std::uint32_t>(at);
  }
  void sift_up(std::size_t at) {
    const HiddenTimer timer = heap[at];
    while (at > 0 && timer < heap[(at - 1) / 2]) {
      place(at, heap[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    place(at, timer);
  }
  void sift_down(std::size_t at) {
    const HiddenTimer timer = heap[at];
    for (std::size_t child = 2 * at + 1; child < heap.size(); child = 2 * at + 1) {
      if (child + 1 < heap.size() && heap[child + 1] < heap[child]) ++child;
      if (!(heap[child] < timer)) break;
      place(at, heap[child]);
      at = child;
    }
    place(at, timer);
  }
  void insert(const HiddenTimer& timer) {
    heap.push_back(timer);
    sift_up(heap.size() - 1);
  }
  void remove(Slot slot) {
    const std::size_t at = table[slot].timer;
    assert(heap[at].slot == slot);
    const HiddenTimer last = heap.back();
    heap.pop_back();
    if (last.slot == slot) return;
    place(at, last);
    sift_up(at);
    sift_down(table[last.slot].timer);
  }
};

}  // namespace

Mailbox::Mailbox(MessageTable& table, std::uint32_t index, Kind kind, QueueKey owner)
    : table_(table), index_(index), kind_(kind), owner_(owner), groups_(1), odd_ages_(table) {}

void Mailbox::prefetch_ends() const {
  if (!groups_.empty()) prefetch(groups_.data());
  if (oldest_ != kNoSlot) prefetch(&table_[oldest_].sent_at);
  if (youngest_ != kNoSlot) prefetch(&table_[youngest_], sizeof(Message));
}

void Mailbox::disown() {
  owner_ = QueueKey::none;
  if (total_ != nullptr) *total_ -= size();
  total_ = nullptr;
}

void Mailbox::enter(Slot slot, std::string_view group) {
  Message& message = table_[slot];
  message.mailbox = index_;
  message.group = group_for(group);
  message.returned = false;
  ++groups_[message.group].total;
  if (total_ != nullptr) ++*total_;
  if (message.group != 0 && !is_fifo()) note_arrival(message);
  enter_phase(message);
  age_insert(slot);
  if (is_fifo()) list_push_back(groups_[message.group].fresh, slot);
  if (message.phase == Phase::visible) {
    if (!is_fifo()) list_push_back(groups_[message.group].fresh, slot);
  } else {
    timer_insert(slot);
  }
  is_fifo() ? refresh_rotation(message.group) : index_tenant(message.group);
}

void Mailbox::leave(Slot slot) {
  Message& message = table_[slot];
  const std::uint32_t group = message.group;
  leave_phase(message);
  --groups_[group].total;
  if (total_ != nullptr) --*total_;
  if (message.phase != Phase::visible) timer_remove(slot);
  if (is_fifo() || message.phase == Phase::visible) {
    list_remove(message.returned ? groups_[group].returned : groups_[group].fresh, slot);
  }
  age_remove(slot);
  is_fifo() ? refresh_rotation(group) : index_tenant(group);
  note_backlog(group);
  drop_group_if_empty(group);
}

void Mailbox::enter_phase(const Message& message) {
  switch (message.phase) {
    case Phase::visible:
      ++visible_;
      return;
    case Phase::in_flight:
      ++in_flight_;
      return hold_in_group(message.group);
    case Phase::delayed:
      ++delayed_;
      ++groups_[message.group].delayed;
  }
}

void Mailbox::leave_phase(const Message& message) {
  switch (message.phase) {
    case Phase::visible:
      --visible_;
      return;
    case Phase::in_flight:
      --in_flight_;
      return let_go_in_group(message.group);
    case Phase::delayed:
      --delayed_;
      --groups_[message.group].delayed;
  }
}

void Mailbox::hold_in_group(std::uint32_t group) {
  const std::uint32_t held = ++groups_[group].in_flight;
  if (load_) load_->hold(group, now_);
  if (group != 0 && held == 1) ++groups_in_flight_;
}

void Mailbox::let_go_in_group(std::uint32_t group) {
  const std::uint32_t held = --groups_[group].in_flight;
  if (load_) load_->release(group, now_);
  if (group != 0 && held == 0) --groups_in_flight_;
}

void Mailbox::note_arrival(const Message& message) {
  if (!load_) load_ = std::make_unique<TenantLoad>(in_flight_);
  load_->sent(message.group, std::max(now_, message.sent_at));
}

void Mailbox::note_backlog(std::uint32_t group) {
  if (load_ && groups_[group].total == groups_[group].in_flight) load_->backlog_empty(group);
}

bool Mailbox::is_noisy(std::uint32_t group, std::size_t more, std::size_t more_in_all) const {
  return load_ && load_->is_noisy(group, more, more_in_all, now_);
}

Mailbox::NoisyGroups Mailbox::noisy_groups() const {
  NoisyGroups noisy;
  if (!load_) return noisy;
  for (const std::uint32_t index : load_->noisy(now_)) {
    const Group& group = groups_[index];
    ++noisy.groups;
    noisy.in_flight += group.in_flight;
    noisy.delayed += group.delayed;
    noisy.visible += group.total - group.in_flight - group.delayed;
  }
  return noisy;
}

Slot Mailbox::first_quiet() const {
  const auto head = [](const Group& group) {
    return group.returned.head != kNoSlot ? group.returned.head : group.fresh.head;
  };
  const Slot nobodys = head(groups_[0]);
  for (const auto& [key, group] : tenants_) {
    if (is_noisy(group)) continue;
    const Slot named = head(groups_[group]);
    return nobodys == kNoSlot || older_than(named, nobodys) ? named : nobodys;
  }
  return nobodys;
}

void Mailbox::deliver(Slot slot, Timestamp visible_at) {
  Message& message = table_[slot];
  assert(message.phase == Phase::visible);
  hide(slot);
  message.visible_at = visible_at;
  message.phase = Phase::in_flight;
  --visible_;
  ++in_flight_;
  hold_in_group(message.group);
  timer_insert(slot);
  if (is_fifo()) {
    rotation_remove(message.group);  // The group that was served goes to the end.
    refresh_rotation(message.group);
  } else {
    index_tenant(message.group);
    note_backlog(message.group);
  }
}

void Mailbox::set_visible_at(Slot slot, Timestamp visible_at, Timestamp now) {
  Message& message = table_[slot];
  if (message.phase == Phase::visible) {
    // A handle whose timeout has ended hides the message again.
    if (visible_at > now) deliver(slot, visible_at);
    return;
  }
  assert(message.phase == Phase::in_flight);
  timer_remove(slot);
  message.visible_at = visible_at;
  timer_insert(slot);
  if (visible_at <= now) make_visible(slot);
}

void Mailbox::reveal(Slot slot) {
  if (table_[slot].phase != Phase::visible) make_visible(slot);
}

void Mailbox::set_delay_end(Slot slot, Timestamp visible_at, Timestamp now) {
  Message& message = table_[slot];
  assert(message.phase == Phase::delayed);
  timer_remove(slot);
  message.visible_at = visible_at;
  timer_insert(slot);
  if (visible_at <= now) make_visible(slot);
}

void Mailbox::begin_redelay(Duration delay, const AgeMark& to) {
  assert(!redelay_ && !loading_);
  if (delayed_ > 0) redelay_ = Redelay{.delay = delay, .to = to};
}

bool Mailbox::awaits_redelay(Slot slot) const {
  if (!redelay_ || table_[slot].phase != Phase::delayed) return false;
  const AgeMark age = age_of(slot);
  return redelay_->done < age && age <= redelay_->to;
}

Timestamp Mailbox::delay_end(Slot slot) const {
  const Message& message = table_[slot];
  return awaits_redelay(slot) ? message.sent_at + redelay_->delay : message.visible_at;
}

std::size_t Mailbox::redelay(Timestamp now, std::size_t max) {
  if (!redelay_ || max == 0) return 0;
  const std::size_t wanted = std::min(max, kRedelayedAtOnce);
  const std::vector<Slot> some = page(redelay_->done, wanted);
  for (const Slot slot : some) {
    const AgeMark age = age_of(slot);
    if (awaits_redelay(slot)) set_delay_end(slot, delay_end(slot), now);
    redelay_->done = age;
  }
  const bool over = delayed_ == 0 || some.size() < wanted || redelay_->done >= redelay_->to;
  if (over) redelay_.reset();
  return some.size();
}

std::size_t Mailbox::advance(Timestamp now, std::size_t max) {
  std::size_t shown = 0;
  for (; shown < max && next_visible_at() <= now; ++shown) {
    const Slot slot = timers_.front().slot;
    if (redelay_ && awaits_redelay(slot) && delay_end(slot) > now) {
      set_delay_end(slot, delay_end(slot), now);
      continue;
    }
    now_ = std::max(now_, timers_.front().at);
    make_visible(slot);
  }
  if (next_visible_at() > now) now_ = std::max(now_, now);
  return shown;
}

void Mailbox::make_visible(Slot slot) {
  Message& message = table_[slot];
  Group& group = groups_[message.group];
  timer_remove(slot);
  leave_phase(message);
  message.phase = Phase::visible;
  ++visible_;
  if (is_fifo()) return refresh_rotation(message.group);
  const bool ahead = message.receive_count > 0 && message.receive_count < kReturnsToTheBack;
  message.returned = ahead;
  list_push_back(ahead ? group.returned : group.fresh, slot);
  index_tenant(message.group);
}

void Mailbox::hide(Slot slot) {
  if (is_fifo()) return;
  Message& message = table_[slot];
  Group& group = groups_[message.group];
  list_remove(message.returned ? group.returned : group.fresh, slot);
  message.returned = false;
}

Slot Mailbox::oldest() const {
  const Slot odd = odd_ages_.oldest();
  if (oldest_ == kNoSlot || odd == kNoSlot) return oldest_ == kNoSlot ? odd : oldest_;
  return older_than(odd, oldest_) ? odd : oldest_;
}

Slot Mailbox::oldest_until(Timestamp limit) const {
  const Slot slot = oldest();
  return slot != kNoSlot && table_[slot].sent_at <= limit ? slot : kNoSlot;
}

Timestamp Mailbox::next_visible_at() const {
  return timers_.empty() ? kNever : timers_.front().at;
}

namespace {

using SortKey = std::pair<std::int64_t, std::uint64_t>;

// With the keys next to the slots: reading each message in every comparison would miss the cache
// each time, and a start sorts millions.
template <class Key>
void sort_slots(std::span<Slot> slots, Key key) {
  std::vector<std::pair<SortKey, Slot>> keyed;
  keyed.reserve(slots.size());
  for (const Slot slot : slots) keyed.emplace_back(key(slot), slot);
  if (std::ranges::is_sorted(keyed)) return;
  std::ranges::sort(keyed);
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = keyed[i].second;
}

}  // namespace

void Mailbox::finish_loading(std::vector<Slot>& members,
                             const std::function<std::uint64_t(Slot)>& order) {
  loading_ = false;
  const auto by_age = [&](Slot slot) {
    return SortKey{table_[slot].sent_at.ms(), number(table_[slot].key)};
  };
  sort_slots(members, by_age);
  for (const Slot slot : members) age_insert(slot);
  // Standard queues: returned messages that wait ahead of the rest, in the order of their return.
  const auto came_back = [&](Slot slot) {
    const Message& message = table_[slot];
    return !is_fifo() && message.phase == Phase::visible && message.receive_count > 0;
  };
  const auto middle = std::stable_partition(members.begin(), members.end(), came_back);
  sort_slots(std::span(members.begin(), middle), [&](Slot slot) {
    return SortKey{table_[slot].visible_at.ms(), number(table_[slot].key)};
  });
  sort_slots(std::span(middle, members.end()), [&](Slot slot) { return SortKey{0, order(slot)}; });
  std::rotate(members.begin(), middle, members.end());
  for (const Slot slot : members) link_loaded(slot);
}

void Mailbox::link_loaded(Slot slot) {
  Message& message = table_[slot];
  Group& group = groups_[message.group];
  if (message.phase != Phase::visible) timer_insert(slot);
  if (is_fifo()) {
    list_push_back(group.fresh, slot);
    return refresh_rotation(message.group);
  }
  if (message.phase != Phase::visible) return;
  message.returned = message.receive_count > 0 && message.receive_count < kReturnsToTheBack;
  list_push_back(message.returned ? group.returned : group.fresh, slot);
  index_tenant(message.group);
}

Slot Mailbox::take_any() {
  if (!odd_ages_.empty()) return odd_ages_.take_any();
  const Slot slot = youngest_;
  if (slot != kNoSlot) youngest_ = table_[slot].older;
  return slot;
}

std::uint32_t Mailbox::group_for(std::string_view name) {
  const std::uint32_t group = group_names_.number_for(name);
  if (group == groups_.size()) groups_.emplace_back();
  return group;
}

void Mailbox::drop_group_if_empty(std::uint32_t group) {
  if (group == 0 || groups_[group].total > 0) return;
  assert(!groups_[group].in_rotation && groups_[group].indexed_head == MessageKey::none);
  group_names_.drop(group);
  if (load_) load_->forget(group);
  groups_[group] = Group{};
}

void Mailbox::list_push_back(Group::List& list, Slot slot) {
  if (loading_) return;
  Message& message = table_[slot];
  message.prev = list.tail;
  message.next = kNoSlot;
  (list.tail == kNoSlot ? list.head : table_[list.tail].next) = slot;
  list.tail = slot;
}

void Mailbox::list_remove(Group::List& list, Slot slot) {
  if (loading_) return;
  const Message& message = table_[slot];
  (message.prev == kNoSlot ? list.head : table_[message.prev].next) = message.next;
  (message.next == kNoSlot ? list.tail : table_[message.next].prev) = message.prev;
}

void Mailbox::refresh_rotation(std::uint32_t index) {
  if (loading_) return;
  Group& group = groups_[index];
  const bool ready =
      group.fresh.head != kNoSlot && table_[group.fresh.head].phase == Phase::visible;
  if (!ready) return rotation_remove(index);
  if (group.in_rotation) return;
  group.in_rotation = true;
  group.rotation_prev = rotation_tail_;
  group.rotation_next = kNoGroup;
  (rotation_tail_ == kNoGroup ? rotation_head_ : groups_[rotation_tail_].rotation_next) = index;
  rotation_tail_ = index;
}

void Mailbox::rotation_remove(std::uint32_t index) {
  Group& group = groups_[index];
  if (!group.in_rotation) return;
  group.in_rotation = false;
  (group.rotation_prev == kNoGroup ? rotation_head_ : groups_[group.rotation_prev].rotation_next) =
      group.rotation_next;
  (group.rotation_next == kNoGroup ? rotation_tail_ : groups_[group.rotation_next].rotation_prev) =
      group.rotation_prev;
}

MessageKey Mailbox::head_key(const Group& group) const {
  const Slot head = group.returned.head != kNoSlot ? group.returned.head : group.fresh.head;
  return head == kNoSlot ? MessageKey::none : table_[head].key;
}

void Mailbox::index_tenant(std::uint32_t index) {
  if (loading_ || index == 0) return;
  Group& group = groups_[index];
  const MessageKey head = head_key(group);
  if (head == group.indexed_head) return;
  if (group.indexed_head != MessageKey::none) tenants_.erase({group.indexed_head, index});
  if (head != MessageKey::none) tenants_.insert({head, index});
  group.indexed_head = head;
}

std::vector<Slot> Mailbox::hidden() const {
  std::vector<Slot> slots;
  for (const HiddenTimer& timer : timers_) slots.push_back(timer.slot);
  return slots;
}

bool Mailbox::older_than(Slot a, Slot b) const {
  const Message& x = table_[a];
  const Message& y = table_[b];
  return x.sent_at != y.sent_at ? x.sent_at < y.sent_at : x.key < y.key;
}

void Mailbox::timer_insert(Slot slot) {
  if (loading_) return;
  const Message& message = table_[slot];
  TimerHeap{timers_, table_}.insert({message.visible_at, message.key, slot});
}

void Mailbox::timer_remove(Slot slot) {
  if (loading_) return;
  TimerHeap{timers_, table_}.remove(slot);
}

std::vector<Slot> Mailbox::page(const AgeMark& after, std::size_t max) const {
  std::vector<Slot> found;
  Slot at = first_behind(after);
  for (; at != kNoSlot && found.size() < max; at = table_[at].younger) found.push_back(at);
  const auto listed = static_cast<std::ptrdiff_t>(found.size());
  odd_ages_.append_behind(after, max, found);
  const auto older = [this](Slot a, Slot b) { return older_than(a, b); };
  std::inplace_merge(found.begin(), found.begin() + listed, found.end(), older);
  found.resize(std::min(max, found.size()));
  return found;
}

std::vector<Slot> Mailbox::page_before(const AgeMark& before, std::size_t max) const {
  std::vector<Slot> found;
  Slot at = last_before(before);
  for (; at != kNoSlot && found.size() < max; at = table_[at].older) found.push_back(at);
  const auto listed = static_cast<std::ptrdiff_t>(found.size());
  odd_ages_.append_before(before, max, found);
  const auto younger = [this](Slot a, Slot b) { return older_than(b, a); };
  std::inplace_merge(found.begin(), found.begin() + listed, found.end(), younger);
  found.resize(std::min(max, found.size()));
  return found;
}

bool Mailbox::in_age_list(const AgeMark& mark) const {
  const Slot slot = table_.find(mark.key);
  return slot != kNoSlot && table_[slot].mailbox == index_ && !table_[slot].odd_age &&
         age_of(slot) == mark;
}

// Walks from the place itself if its message is still present, or from the last milestone before it
// whose message is.
Slot Mailbox::first_behind(const AgeMark& mark) const {
  if (in_age_list(mark)) return table_[table_.find(mark.key)].younger;
  auto milestone = std::ranges::upper_bound(milestones_, mark);
  while (milestone != milestones_.begin() && !in_age_list(*std::prev(milestone))) --milestone;
  Slot at = milestone == milestones_.begin() ? oldest_ : table_.find(std::prev(milestone)->key);
  while (at != kNoSlot && age_of(at) <= mark) at = table_[at].younger;
  return at;
}

Slot Mailbox::last_before(const AgeMark& mark) const {
  if (in_age_list(mark)) return table_[table_.find(mark.key)].older;
  const Slot behind = first_behind(mark);
  return behind == kNoSlot ? youngest_ : table_[behind].older;
}

void Mailbox::leave_milestone(Slot slot) {
  since_milestone_ = 0;
  while (!milestones_.empty() && milestones_.front() < age_of(oldest_)) milestones_.pop_front();
  // An old message that stays while millions pass would keep all milestones after it.
  if (milestones_.size() > 2 * size() / kMilestoneEvery + kMilestonesMin) {
    std::erase_if(milestones_, [this](const AgeMark& mark) { return !in_age_list(mark); });
  }
  milestones_.push_back(age_of(slot));
}

void Mailbox::age_insert(Slot slot) {
  if (loading_) return;
  Message& message = table_[slot];
  message.odd_age = youngest_ != kNoSlot && older_than(slot, youngest_);
  if (message.odd_age) return odd_ages_.insert(slot);
  message.older = youngest_;
  message.younger = kNoSlot;
  (youngest_ == kNoSlot ? oldest_ : table_[youngest_].younger) = slot;
  youngest_ = slot;
  if (++since_milestone_ == kMilestoneEvery) leave_milestone(slot);
}

void Mailbox::age_remove(Slot slot) {
  if (loading_) return;
  const Message& message = table_[slot];
  if (message.odd_age) return odd_ages_.erase(slot);
  (message.older == kNoSlot ? oldest_ : table_[message.older].younger) = message.younger;
  (message.younger == kNoSlot ? youngest_ : table_[message.younger].older) = message.older;
}

ReadyWalk::ReadyWalk(const Mailbox& mailbox)
    : box_(mailbox),
      fifo_group_(mailbox.rotation_head_),
      first_unwalked_(mailbox.tenants_.begin()) {
  if (fifo_group_ != kNoGroup) fifo_at_ = box_.groups_[fifo_group_].fresh.head;
  if (!box_.is_fifo()) ungrouped_ = cursor_for(0);
}

Slot ReadyWalk::next() {
  if (box_.is_fifo()) return next_fifo();
  if (box_.tenants_.empty()) return take(ungrouped_);
  return next_tenant();
}

Slot ReadyWalk::next_fifo() {
  while (fifo_group_ != kNoGroup) {
    const Slot slot = fifo_at_;
    if (slot != kNoSlot && box_.table_[slot].phase == Phase::visible) {
      fifo_at_ = box_.table_[slot].next;
      return slot;
    }
    fifo_group_ = box_.groups_[fifo_group_].rotation_next;
    if (fifo_group_ != kNoGroup) fifo_at_ = box_.groups_[fifo_group_].fresh.head;
  }
  return kNoSlot;
}

Slot ReadyWalk::next_tenant() {
  // Few tenants are noisy at a time (TenantLoad::kMarkedMax), so skipping them is cheap.
  Cursor best{.group = kNoGroup, .at = kNoSlot, .in_returned = false};
  const auto better = [&](const Cursor& candidate) {
    if (candidate.at == kNoSlot) return false;
    if (best.at == kNoSlot) return true;
    const bool loud = noisy(candidate);
    if (loud != noisy(best)) return !loud;
    const std::uint32_t held = box_.groups_[candidate.group].in_flight + candidate.taken;
    const std::uint32_t best_held = box_.groups_[best.group].in_flight + best.taken;
    if (loud && held != best_held) return held < best_held;
    return box_.table_[candidate.at].key < box_.table_[best.at].key;
  };
  if (better(ungrouped_)) best = ungrouped_;
  for (const Cursor& cursor : cursors_) {
    if (better(cursor)) best = cursor;
  }
  // Groups at the front that are already being walked need not be skipped each time.
  while (first_unwalked_ != box_.tenants_.end() &&
         find_cursor(first_unwalked_->second) != nullptr) {
    ++first_unwalked_;
  }
  for (auto at = first_unwalked_; at != box_.tenants_.end(); ++at) {
    const std::uint32_t group = at->second;
    if (find_cursor(group) != nullptr) continue;
    const Cursor candidate = cursor_for(group);
    if (better(candidate)) best = candidate;
    if (!noisy(candidate)) break;  // The oldest quiet one; younger ones cannot beat it.
  }
  if (best.at == kNoSlot) return kNoSlot;
  if (best.group == 0) return take(ungrouped_);
  if (Cursor* walked = find_cursor(best.group)) return take(*walked);
  return take(cursors_.emplace_back(best));
}

ReadyWalk::Cursor ReadyWalk::cursor_for(std::uint32_t group) const {
  const Group& g = box_.groups_[group];
  const bool returned = g.returned.head != kNoSlot;
  return {.group = group, .at = returned ? g.returned.head : g.fresh.head, .in_returned = returned};
}

Slot ReadyWalk::take(Cursor& cursor) {
  const Slot slot = cursor.at;
  if (slot == kNoSlot) return kNoSlot;
  cursor.at = box_.table_[slot].next;
  if (cursor.at == kNoSlot && cursor.in_returned) {
    cursor.in_returned = false;
    cursor.at = box_.groups_[cursor.group].fresh.head;
  }
  ++cursor.taken;
  ++taken_;
  return slot;
}

ReadyWalk::Cursor* ReadyWalk::find_cursor(std::uint32_t group) {
  for (Cursor& cursor : cursors_) {
    if (cursor.group == group) return &cursor;
  }
  return nullptr;
}

}  // namespace redrive::queue
