#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "functions/dispatch/batch_run.h"
#include "functions/dispatch/concurrency.h"
#include "functions/dispatch/item.h"
#include "functions/dispatch/load.h"
#include "functions/dispatch/plan.h"
#include "functions/dispatch/poller.h"
#include "functions/dispatch/stats.h"

namespace redrive::dispatch {

// Feeds a function from a queue: receives, filters, forms batches and runs them concurrently up to
// a limit. On the strand.
//
// Normally nothing is received that could not run at once; but if runs are so short that processes
// would wait for the next receive, a short backlog of batches is received ahead.
class MappingRunner final : public Poller {
 public:
  MappingRunner(std::shared_ptr<World> world, std::shared_ptr<const Plan> plan);

  // Uses another plan for messages received from now on, from the same queue. Messages already
  // received are processed with the old one.
  void adopt(std::shared_ptr<const Plan> plan);
  // Ends for good after processing what it has received. Messages that have not started to run are
  // returned.
  void retire();

  bool busy() const override { return running_ > 0 || !ready_.empty(); }
  void synced() override { start_ready(); }
  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<MappingStats>& stats() const { return stats_; }

 private:
  struct Batch {
    std::shared_ptr<const Plan> plan;
    Load load;
    engine::Sequence after = 0;  // Durable once this is synced.
  };

  std::optional<Intake> next_intake() override;
  void received(const Catch& brought) override;
  void waited_in_vain() override;
  void receive_ended() override { note_engaged(); }

  bool is_fifo() const { return plan_->queue.name.ends_with(".fifo"); }
  // Writes the message's record and adds it to the current batch. Returns false if it does not fit
  // and must not run in parallel; it then went back to its queue.
  bool gather(Item& item, const events::Record& record, engine::Sequence after);
  // Makes the message a batch of its own, without waiting for a window.
  void gather_alone(Item& item, const events::Record& record, engine::Sequence after);
  // Runs each of these batches as soon as there is capacity. Returns false, taking nothing, if the
  // runner has been retired.
  bool run_alone(const std::shared_ptr<const Plan>& plan, std::vector<Load>& loads);
  // Adds to the current batch, according to the plan that it was started with.
  bool take(Item& item, const events::Record& record);
  void begin_window();
  void window_over(std::uint64_t window);
  void close_batch();
  void start_ready();
  void launch(Batch batch);
  void finished(const Plan& plan, const BatchRun::Summary& summary);
  void remove_filtered(std::span<const queue::ReceiptHandle> handles);
  // State of the mapping and its queue, read in one turn.
  struct Standing {
    bool defined = false;
    Duration visibility{};
  };
  Standing look_around();
  // Whether the message's next attempt is further away than a receive can last, so that it must be
  // postponed again.
  bool must_wait(const Item& item);
  void give_back(std::span<const Item> items);
  void note_limit();
  void note_engaged() { stats_->engaged = !retired_ || is_receiving() || busy(); }
  unsigned ahead() const;
  unsigned capacity() const { return concurrency_.limit() + ahead(); }

  std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<MappingStats> stats_ = std::make_shared<MappingStats>();
  Concurrency concurrency_;
  Batch gathering_;
  RecordMaker records_;
  std::uint64_t window_ = 0;  // Number of the current batch.
  std::deque<Batch> ready_;   // Complete batches waiting to run.
  unsigned running_ = 0;      // Batches in the invoker.
  const std::shared_ptr<runtime::Lane> lane_ = std::make_shared<runtime::Lane>();
  std::chrono::microseconds run_time_{0};  // Moving average.
  std::size_t asked_ = 0;                  // Number of messages requested by the last receive.
  bool backlog_ = false;                   // The last receive returned all that it requested.
  bool may_spend_ = false;  // A receive may be spent on a message that does not run after all.
  bool retired_ = false;
};

}  // namespace redrive::dispatch
