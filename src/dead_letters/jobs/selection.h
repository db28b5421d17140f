#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/queue/state.h"
#include "core/store/message_codec.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/triage/json_patch.h"
#include "dead_letters/view/stored_view.h"

namespace redrive::dead_letters {

// The part of a plan that depends on what messages contain. Immutable, so that any thread may use
// it.
class Sieve {
 public:
  enum class Fit {
    yes,
    no,
    unreadable,  // For now.
    damaged,     // For good.
  };

  // An error when the plan's filter or patch cannot be read.
  static Result<Sieve> make(const queue::TaskPlan& plan);
  bool is_empty() const { return !filter_ && !patch_; }
  bool has_patch() const { return patch_.has_value(); }
  // Whether the plan is for this message: yes or no. With a patch, `changed` gets its new stored
  // bytes.
  Fit judge(const KnownMessage& known, const store::StoredMessage& stored,
            std::string& changed) const;

 private:
  std::optional<triage::Filter> filter_;
  std::optional<triage::JsonPatch> patch_;
};

// The messages that a plan takes from a queue, in the queue's order, and what it makes of them.
// Frozen: what enters the queue later has a higher place than the plan goes to. All calls in turn;
// none takes long, however many messages there are.
class Selection {
 public:
  using Fit = Sieve::Fit;

  // An error when the plan's filter or patch cannot be read.
  static Result<Selection> make(const queue::TaskPlan& plan);

  // From now on messages that have had so many redrives are left where they are; 0: none.
  void pass_over(std::uint32_t redrives_max) { redrives_max_ = redrives_max; }
  // Notes some of what there is to take, whatever its contents. To be called until is_filled().
  void fill(const queue::State& state, const queue::Queue& source);
  bool is_filled() const { return filled_; }
  std::size_t candidates() const { return candidates_; }

  // The next one that is not in flight. kNoSlot when there is none among the next `looks`, which
  // are counted down.
  queue::Slot next(const queue::State& state, const queue::Queue& source, std::size_t& looks);
  // Nothing is left to be taken.
  bool at_end() const { return filled_ && again_.empty() && heads_.empty(); }
  // Those will be next once more, in this order.
  void put_back(std::span<const queue::MessageKey> keys);
  // The message, if it may still be taken; kNoSlot otherwise.
  queue::Slot find_free(const queue::State& state, const queue::Queue& source,
                        queue::MessageKey key);
  // FIFO: what is behind this message must not overtake it.
  void leave_group_of(const queue::State& state, const queue::Queue& source, queue::Slot slot);

  // Whether messages have to be read to know if the plan is for them.
  bool reads() const { return !sieve_->is_empty(); }
  const std::shared_ptr<const Sieve>& sieve() const { return sieve_; }

 private:
  using Item = std::pair<std::uint64_t, queue::MessageKey>;  // With its place.
  struct Run {
    std::vector<Item> items;  // Sorted.
    std::size_t at = 0;
  };
  std::optional<queue::MessageKey> pop();
  void add_run(std::vector<Item> items);

  queue::FailureGroupKey group_ = queue::FailureGroupKey::none;
  std::uint64_t frozen_at_ = 0;
  std::uint32_t redrives_max_ = 0;
  std::shared_ptr<const Sieve> sieve_;
  // Messages are found by age, a page at a time, and wanted by place: each page is a sorted run,
  // and the runs are merged as they are taken from.
  bool filled_ = false;
  queue::Mailbox::AgeMark filled_to_;
  std::size_t candidates_ = 0;
  std::vector<Run> runs_;
  std::set<std::pair<std::uint64_t, std::size_t>> heads_;  // The first place of each run.
  std::deque<queue::MessageKey> again_;
  // FIFO: groups of which a message had to be left; what is behind it must not overtake.
  std::set<std::string, std::less<>> left_groups_;
};

}  // namespace redrive::dead_letters
