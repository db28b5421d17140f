#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/fate.h"
#include "dispatch/item.h"
#include "dispatch/load.h"
#include "dispatch/plan.h"
#include "dispatch/stats.h"
#include "dispatch/world.h"
#include "events/batch_result.h"
#include "events/item_causes.h"
#include "events/record_documents.h"

namespace redrive::dispatch {

// One batch, from the moment a handler is free for it until each of its messages has met its fate.
// On the strand.
class BatchRun : public std::enable_shared_from_this<BatchRun> {
 public:
  struct Summary {
    bool function_error = false;
    bool throttled = false;
    bool waited_for_process = false;
    std::chrono::microseconds run_time{0};  // Of all its runs.
  };
  struct Parts {
    std::shared_ptr<World> world;
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<MappingStats> stats;
    std::shared_ptr<const runtime::Lane> lane;
    // Runs batches of one message each, of the same receive. False: that is not possible any more.
    std::function<bool(std::vector<Load>&)> run_alone;
    std::function<void(const Summary&)> done;
  };
  BatchRun(Parts parts, Load load);

  void start() { step(); }

 private:
  // Why a part of the batch failed.
  struct Failure {
    queue::ErrorText error;
    bool by_item = false;       // The handler ran to its end and named the messages.
    std::uint16_t company = 0;  // See queue::Attempt.
  };
  struct QueueFacts {
    Duration visibility{};
    bool fifo = false;
    bool has_dead_letter_queue = false;
  };

  void step();
  void invoke();
  // Whether processes may soon have nothing to do. From any thread.
  bool is_hurried() const { return !parts_.lane || parts_.lane->waiting < kUnhurried; }
  void measure_ages();
  std::string_view record_of(const Item& item) const {
    return std::string_view(event_.text()).substr(item.record_at, item.record_size);
  }
  // The event for the part that runs.
  runtime::Payload event_of_part() const;
  void answered(const runtime::Outcome& outcome);
  void not_run(const runtime::Outcome& outcome);
  void ran(const runtime::Outcome& outcome);
  void failed(const Failure& failure, const runtime::Outcome& outcome);
  events::BatchResult judge(const runtime::Outcome& outcome) const;
  // What is known of each message of the part alone; false if nothing is.
  bool explain_raised(const runtime::Outcome& outcome);
  void explain_named(const runtime::Outcome& outcome, const std::vector<bool>& failed);
  void finish_if_over();

  // Takes out what must not run any more: too old, or behind a failed one of its group.
  void sift();
  void split();
  // Takes out of the part that failed what has no retry left, and runs each of these messages alone
  // before it may die.
  void give_last_chance(const Failure& failure);
  // Reports the failure of messages that come back without having used up a retry.
  void postpone(const std::vector<Item>& items, const Failure& failure);
  // The event of one message of the batch.
  Load load_of(Item item) const;
  // `not_run`: no handler has seen them in this receive.
  void let_go(std::vector<Item> items, bool not_run = false);
  void succeed(std::vector<Item> items, const runtime::Outcome& outcome);
  void fail_named(std::vector<Item> items, const Failure& failure, const runtime::Outcome& outcome);
  static std::vector<std::string_view> error_names(const Item& item, const Failure& failure);
  void fail_items(std::vector<Item> items, const Failure& failure, const runtime::Outcome& outcome);
  void carry_out(std::vector<Item> items, std::vector<Fate> fates, const Failure& failure,
                 const runtime::Outcome& outcome);
  Fate fate_of(const Item& item, const Failure& failure, const QueueFacts& now);
  bool report(const Item& item, const Fate& fate, const Failure& failure, Duration plain_delay);
  void expire(std::vector<Item> items);
  void send_expired(std::vector<Item> items);
  std::uint32_t runs_before(const Item& item) const;

  // How a parcel of messages is described to its receiver.
  struct Story {
    std::string_view condition;
    std::uint32_t invoke_count = 1;
    const runtime::Outcome* outcome = nullptr;
    bool by_item = false;
  };
  void send_away(const Destination& to, std::vector<Item> items, const Story& story,
                 std::function<void(const std::vector<Item>&)> undelivered);
  std::vector<std::string> documents_of(const std::vector<Item>& items, const Story& story);
  std::string document_of(std::span<const Item> items, const Story& story);

  QueueFacts facts() const;
  // How long a message stays hidden by the time it was received for alone.
  Duration plain_delay(const Item& item, const QueueFacts& facts) const;

  static constexpr unsigned kUnhurried = 20;  // More than the strand lets come together.
  const Parts parts_;
  const Plan& plan_;
  const runtime::Payload event_;            // For the whole batch.
  const std::size_t whole_;                 // So many messages it has.
  std::vector<std::vector<Item>> waiting_;  // Parts that have not run; the last is the next.
  std::vector<Item> part_;                  // That which runs.
  runtime::Outcome outcome_;                // Of its run, on its way to the strand.
  std::string request_id_;
  int attempts_ = 0;  // Of this part that did not come to a run.
  // FIFO groups of which a message has failed, and when it is visible again.
  std::map<std::string, Timestamp> blocked_;
  std::size_t deliveries_ = 0;  // Under way.
  bool running_ = false;
  bool over_ = false;
  Summary summary_;
};

}  // namespace redrive::dispatch
