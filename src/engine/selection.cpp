#include "engine/selection.h"

#include <algorithm>

#include "engine/stored_view.h"

namespace redrive::engine {

Result<Selection> Selection::make(const queue::TaskPlan& plan) {
  Selection selection;
  selection.group_ = plan.group;
  selection.frozen_at_ = plan.frozen_at;
  if (!plan.filter.empty()) selection.filter_ = TRY(dead_letter::Filter::parse(plan.filter));
  if (!plan.patch.empty()) selection.patch_ = TRY(dead_letter::JsonPatch::parse(plan.patch));
  return selection;
}

void Selection::fill(const queue::State& state, const queue::Queue& source) {
  std::vector<std::pair<std::uint64_t, queue::MessageKey>> found;
  state.mailbox(source).for_each([&](queue::Slot slot) {
    const std::uint64_t place = state.order_of(slot);
    const queue::History* history = state.messages().history_if(slot);
    const auto group = history == nullptr ? queue::FailureGroupKey::none : history->group;
    const std::uint32_t redrives = history == nullptr ? 0 : history->redrives;
    const bool parked = redrives_max_ > 0 && redrives >= redrives_max_;
    const bool member = !parked && (group_ == queue::FailureGroupKey::none || group_ == group);
    if (member && place <= frozen_at_) found.emplace_back(place, state.messages()[slot].key);
  });
  std::ranges::sort(found);
  keys_.clear();
  keys_.reserve(found.size());
  for (const auto& [place, key] : found) keys_.push_back(key);
  at_ = 0;
  left_groups_.clear();
}

queue::Slot Selection::next(const queue::State& state, const queue::Queue& source) {
  const queue::Mailbox& box = state.mailbox(source);
  while (at_ < keys_.size()) {
    const queue::Slot slot = state.find_message(source, keys_[at_++]);
    if (slot == queue::kNoSlot || state.order_of(slot) > frozen_at_) continue;
    const bool free = state.messages()[slot].phase == queue::Phase::visible &&
                      !box.is_blocked(slot) && !left_groups_.contains(box.group_name(slot));
    if (free) return slot;
    if (box.is_fifo()) left_groups_.emplace(box.group_name(slot));
  }
  return queue::kNoSlot;
}

Selection::Fit Selection::fits(const store::Store& store, queue::Slot slot, std::string& changed) {
  if (!reads()) return Fit::yes;
  std::string bytes;
  const queue::Message& message = store.state().messages()[slot];
  const auto stored = store.read_message(message.key, message.body, bytes);
  if (!stored && stored.error().code == ErrorCode::storage_damaged) {
    damage_ = stored.error().message;
    return Fit::damaged;
  }
  if (!stored) {
    const queue::State& state = store.state();
    const queue::Queue* queue = state.find(state.queue_of(slot));
    if (queue != nullptr && queue->settings.is_fifo()) left_groups_.emplace(state.group_of(slot));
    return Fit::unreadable;
  }
  StoredView view(*stored);
  if (filter_ && !filter_->matches(view.subject(store.state(), slot))) return Fit::no;
  if (!patch_) return Fit::yes;
  const auto patched = patch_->apply(stored->contents.body);
  if (!patched) return Fit::no;
  store::MessageContents contents = stored->contents;
  contents.body = *patched;
  contents.md5_of_body = md5(*patched);
  changed = store::encode_message(*stored, contents);
  return Fit::yes;
}

}  // namespace redrive::engine
