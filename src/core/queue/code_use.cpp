#include "core/queue/code_use.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/queue/consumer_name.h"

namespace redrive::queue {

CodeIndex CodeTable::of(NameIndex name, std::string_view text) {
  if (name == NameIndex::none || text.empty()) return CodeIndex::none;
  if (number(name) >= by_name_.size()) by_name_.resize(number(name) + 1);
  CodeIndex& known = by_name_[number(name)];
  if (known == CodeIndex::none) known = of(parse_consumer_name(text).code_key());
  return known;
}

CodeIndex CodeTable::of(std::string_view code_key) {
  if (const auto found = index_.find(code_key); found != index_.end()) return found->second;
  const auto fresh = static_cast<CodeIndex>(texts_.size());
  texts_.emplace_back(code_key);
  index_.emplace(code_key, fresh);
  return fresh;
}

void CodeTable::clear() {
  *this = {};
}

CodeUse& CodeUses::use(const Attempted& attempted, Timestamp wall) {
  // The same code as last time is the common case: it is first.
  if (!uses_.empty() && uses_.front().code == attempted.code) return uses_.front();
  auto found = std::ranges::find(uses_, attempted.code, &CodeUse::code);
  if (found == uses_.end() && uses_.size() == kCodeUsesMax) {
    uses_.erase(std::ranges::min_element(uses_, {}, &CodeUse::last_wall));
    forgot_ = true;
    found = uses_.end();
  }
  if (found == uses_.end()) {
    uses_.push_back({.code = attempted.code, .first_wall = attempted.received_wall});
    uses_.back().last_wall = wall;
    found = uses_.end() - 1;
  }
  std::iter_swap(uses_.begin(), found);
  return uses_.front();
}

void CodeUses::note_processed(const Attempted& attempted, Timestamp wall) {
  if (attempted.code == CodeIndex::none) return;
  CodeUse& used = use(attempted, wall);
  ++used.processed;
  used.first_wall = std::min(used.first_wall, attempted.received_wall);
  used.last_wall = wall;
}

void CodeUses::note_failed(const Attempted& attempted, Timestamp wall) {
  if (attempted.code == CodeIndex::none) return;
  CodeUse& used = use(attempted, wall);
  ++used.failed;
  used.first_wall = std::min(used.first_wall, attempted.received_wall);
  used.last_wall = wall;
}

void CodeUses::restore(std::vector<CodeUse> uses, bool forgot) {
  uses_ = std::move(uses);
  if (uses_.size() > kCodeUsesMax) uses_.resize(kCodeUsesMax);
  forgot_ = forgot;
}

std::vector<Attempt> failed_attempts(const History& history) {
  using Kind = LineageEvent::Kind;
  Timestamp life_began;
  for (const LineageEvent& event : history.events) {
    const bool anew = event.kind == Kind::redriven || event.kind == Kind::unarchived;
    if (anew) life_began = event.wall;
  }
  std::vector<Attempt> failed;
  for (const Attempt& attempt : history.attempts) {
    const bool fails =
        attempt.end == AttemptEnd::failed || attempt.end == AttemptEnd::visibility_expired;
    const bool ran = attempt.isolation != Isolation::not_run;
    if (fails && ran && attempt.received_wall >= life_began) failed.push_back(attempt);
  }
  // An error shared with the batch may be caused by another message: it counts only if there is
  // nothing else.
  const auto alone = [](const Attempt& attempt) { return !attempt.is_shared(); };
  if (std::ranges::any_of(failed, alone)) std::erase_if(failed, std::not_fn(alone));
  if (failed.empty() && !history.attempts.empty()) failed.push_back(history.attempts.back());
  return failed;
}

}  // namespace redrive::queue
