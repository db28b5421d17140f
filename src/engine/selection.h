#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "dead_letter/filter.h"
#include "dead_letter/json_patch.h"
#include "queue/state.h"
#include "store/store.h"

namespace redrive::engine {

// The messages that a plan takes from a queue, in the queue's order, and what it makes of them.
// Frozen: what enters the queue later has a higher place than the plan goes to.
class Selection {
 public:
  // An error when the plan's filter or patch cannot be read.
  static Result<Selection> make(const queue::TaskPlan& plan);

  // From now on messages that have had so many redrives are left where they are; 0: none.
  void pass_over(std::uint32_t redrives_max) { redrives_max_ = redrives_max; }
  // Notes what there is to take, whatever its contents. In turn, like all below.
  void fill(const queue::State& state, const queue::Queue& source);
  std::size_t candidates() const { return keys_.size(); }

  // The next one that nobody holds; kNoSlot at the end.
  queue::Slot next(const queue::State& state, const queue::Queue& source);
  // Whether fits() has to read a message's bytes.
  bool reads() const { return filter_ || patch_; }
  enum class Fit {
    yes,
    no,
    unreadable,  // For now.
    damaged,     // For good: see damage().
  };
  // Whether the plan is for this message. With a patch, `changed` gets its new stored bytes.
  // What is behind a message that cannot be read in its FIFO group is left with it.
  Fit fits(const store::Store& store, queue::Slot slot, std::string& changed);
  // What is wrong with the message that fits() last called damaged.
  const std::string& damage() const { return damage_; }
  bool has_patch() const { return patch_.has_value(); }

 private:
  queue::FailureGroupKey group_ = queue::FailureGroupKey::none;
  std::uint64_t frozen_at_ = 0;
  std::uint32_t redrives_max_ = 0;
  std::optional<dead_letter::Filter> filter_;
  std::optional<dead_letter::JsonPatch> patch_;
  std::vector<queue::MessageKey> keys_;
  std::size_t at_ = 0;
  std::string damage_;
  // FIFO: groups of which a message had to be left; what is behind it must not overtake.
  std::set<std::string, std::less<>> left_groups_;
};

}  // namespace redrive::engine
