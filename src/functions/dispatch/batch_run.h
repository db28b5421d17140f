#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "functions/dispatch/fate.h"
#include "functions/dispatch/item.h"
#include "functions/dispatch/load.h"
#include "functions/dispatch/plan.h"
#include "functions/dispatch/stats.h"
#include "functions/dispatch/world.h"
#include "functions/events/batch_result.h"
#include "functions/events/item_causes.h"
#include "functions/events/record_documents.h"

namespace redrive::dispatch {

// One batch, from the moment a handler is free for it until every message is deleted, retried or
// moved. On the strand.
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
    // Runs batches of one message each, from the same receive. Returns false if that is no longer
    // possible.
    std::function<bool(std::vector<Load>&)> run_alone;
    std::function<void(const Summary&)> done;
  };
  BatchRun(Parts parts, Load load);

  void start() { step(); }

 private:
  // Why part of the batch failed.
  struct Failure {
    queue::ErrorText error;
    bool by_item = false;       // The handler finished and reported the messages.
    std::uint16_t company = 0;  // See queue::Attempt.
  };
  struct QueueFacts {
    Duration visibility{};
    bool fifo = false;
    bool has_dead_letter_queue = false;
  };

  void step();
  void invoke();
  // Whether processes may soon be idle. Thread-safe.
  bool is_hurried() const { return !parts_.lane || parts_.lane->waiting < kUnhurried; }
  void measure_ages();
  std::string_view record_of(const Item& item) const {
    return std::string_view(event_.text()).substr(item.record_at, item.record_size);
  }
  // The event for the part being run.
  runtime::Payload event_of_part() const;
  void answered(const runtime::Outcome& outcome);
  void not_run(const runtime::Outcome& outcome);
  void ran(const runtime::Outcome& outcome);
  void failed(const Failure& failure, const runtime::Outcome& outcome);
  events::BatchResult judge(const runtime::Outcome& outcome) const;
  // Determines the cause for each message of the part; returns false if none is known.
  bool explain_raised(const runtime::Outcome& outcome);
  void explain_named(const runtime::Outcome& outcome, const std::vector<bool>& failed);
  void finish_if_over();

  // Removes items that must not run any more: too old, or behind a failed message of their group.
  void sift();
  void split();
  // Takes the messages without a retry left out of the failed part and runs each alone before it
  // may be dead-lettered.
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

  // How a delivery of messages is described to its receiver.
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
  // How long the message remains hidden if nothing is done.
  Duration plain_delay(const Item& item, const QueueFacts& facts) const;

  static constexpr unsigned kUnhurried = 20;  // More than the strand batches together.
  const Parts parts_;
  const Plan& plan_;
  const runtime::Payload event_;            // For the whole batch.
  const std::size_t whole_;                 // Number of messages.
  std::vector<std::vector<Item>> waiting_;  // Parts that have not run; the last is the next.
  std::vector<Item> part_;                  // The part being run.
  runtime::Outcome outcome_;                // Of its run, until the strand handles it.
  std::string request_id_;
  int attempts_ = 0;  // Attempts to run this part that were throttled.
  // FIFO groups with a failed message, and when it becomes visible again.
  std::map<std::string, Timestamp> blocked_;
  std::size_t deliveries_ = 0;  // In progress.
  bool running_ = false;
  bool over_ = false;
  Summary summary_;
};

}  // namespace redrive::dispatch
