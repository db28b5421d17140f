#include "dead_letters/jobs/selection.h"

#include <algorithm>

namespace redrive::dead_letters {
namespace {

constexpr std::size_t kFilledAtOnce = 1000;

}  // namespace

Result<Sieve> Sieve::make(const queue::TaskPlan& plan) {
  Sieve sieve;
  if (!plan.filter.empty()) sieve.filter_ = TRY(triage::Filter::parse(plan.filter));
  if (!plan.patch.empty()) sieve.patch_ = TRY(triage::JsonPatch::parse(plan.patch));
  return sieve;
}

Sieve::Fit Sieve::judge(const KnownMessage& known, const store::StoredMessage& stored,
                        std::string& changed) const {
  StoredView view(stored);
  if (filter_ && !filter_->matches(view.subject(known))) return Fit::no;
  if (!patch_) return Fit::yes;
  const auto patched = patch_->apply(stored.contents.body);
  if (!patched) return Fit::no;
  store::MessageContents contents = stored.contents;
  contents.body = *patched;
  contents.md5_of_body = md5(*patched);
  changed = store::encode_message(stored, contents);
  return Fit::yes;
}

Result<Selection> Selection::make(const queue::TaskPlan& plan) {
  Selection selection;
  selection.group_ = plan.group;
  selection.frozen_at_ = plan.frozen_at;
  selection.sieve_ = std::make_shared<const Sieve>(TRY(Sieve::make(plan)));
  return selection;
}

void Selection::fill(const queue::State& state, const queue::Queue& source) {
  const queue::Mailbox& box = state.mailbox(source);
  const std::vector<queue::Slot> page = box.page(filled_to_, kFilledAtOnce);
  state.count_work(page.size());
  std::vector<Item> found;
  for (const queue::Slot slot : page) {
    const std::uint64_t place = state.order_of(slot);
    const queue::History* history = state.messages().history_if(slot);
    const auto group = history == nullptr ? queue::FailureGroupKey::none : history->group;
    const std::uint32_t redrives = history == nullptr ? 0 : history->redrives;
    const bool parked = redrives_max_ > 0 && redrives >= redrives_max_;
    const bool member = !parked && (group_ == queue::FailureGroupKey::none || group_ == group);
    if (member && place <= frozen_at_) found.emplace_back(place, state.messages()[slot].key);
  }
  if (!page.empty()) filled_to_ = box.age_of(page.back());
  filled_ = page.size() < kFilledAtOnce;
  if (!found.empty()) add_run(std::move(found));
}

void Selection::add_run(std::vector<Item> items) {
  std::ranges::sort(items);
  candidates_ += items.size();
  heads_.emplace(items.front().first, runs_.size());
  runs_.push_back({.items = std::move(items)});
}

std::optional<queue::MessageKey> Selection::pop() {
  if (!again_.empty()) {
    const queue::MessageKey key = again_.front();
    again_.pop_front();
    return key;
  }
  if (heads_.empty()) return std::nullopt;
  const std::size_t index = heads_.begin()->second;
  Run& run = runs_[index];
  const queue::MessageKey key = run.items[run.at++].second;
  heads_.erase(heads_.begin());
  if (run.at < run.items.size()) {
    heads_.emplace(run.items[run.at].first, index);
  } else {
    run.items = {};
  }
  return key;
}

void Selection::put_back(std::span<const queue::MessageKey> keys) {
  again_.insert(again_.begin(), keys.begin(), keys.end());
}

queue::Slot Selection::next(const queue::State& state, const queue::Queue& source,
                            std::size_t& looks) {
  for (; looks > 0; --looks) {
    const auto key = pop();
    if (!key) return queue::kNoSlot;
    state.count_work(1);
    if (const queue::Slot slot = find_free(state, source, *key); slot != queue::kNoSlot) {
      --looks;
      return slot;
    }
  }
  return queue::kNoSlot;
}

queue::Slot Selection::find_free(const queue::State& state, const queue::Queue& source,
                                 queue::MessageKey key) {
  const queue::Mailbox& box = state.mailbox(source);
  const queue::Slot slot = state.find_message(source, key);
  if (slot == queue::kNoSlot || state.order_of(slot) > frozen_at_) return queue::kNoSlot;
  const bool free = state.messages()[slot].phase == queue::Phase::visible &&
                    !box.is_blocked(slot) && !left_groups_.contains(box.group_name(slot));
  if (free) return slot;
  leave_group_of(state, source, slot);
  return queue::kNoSlot;
}

void Selection::leave_group_of(const queue::State& state, const queue::Queue& source,
                               queue::Slot slot) {
  const queue::Mailbox& box = state.mailbox(source);
  if (box.is_fifo()) left_groups_.emplace(box.group_name(slot));
}

}  // namespace redrive::dead_letters
