#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "dispatch/batch_run.h"
#include "dispatch/concurrency.h"
#include "dispatch/item.h"
#include "dispatch/load.h"
#include "dispatch/plan.h"
#include "dispatch/poller.h"
#include "dispatch/stats.h"

namespace redrive::dispatch {

// Feeds a function from a queue: receives, filters, gathers batches and runs them, as many at a
// time as it may. On the strand.
//
// Nothing is received that could not run at once; but where runs are so short that their processes
// would wait for the next receive, as many batches are received ahead as run within a moment.
class MappingRunner final : public Poller {
 public:
  MappingRunner(std::shared_ptr<World> world, std::shared_ptr<const Plan> plan);

  // Another plan for what comes from now on, from the same queue. What has been received is worked
  // on by the old one.
  void adopt(std::shared_ptr<const Plan> plan);
  // Ends for good, after what it has received. Messages that have not begun to run go back.
  void retire();

  bool busy() const override { return running_ > 0 || !ready_.empty(); }
  void synced() override { start_ready(); }
  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<MappingStats>& stats() const { return stats_; }

 private:
  struct Batch {
    std::shared_ptr<const Plan> plan;
    Load load;
    engine::Sequence after = 0;  // Durable when this is.
  };

  std::optional<Intake> next_intake() override;
  void received(const Catch& brought) override;
  void waited_in_vain() override;
  void receive_ended() override { note_engaged(); }

  bool is_fifo() const { return plan_->queue.name.ends_with(".fifo"); }
  // Writes the message's record, and takes it into the batch that is being gathered. False: into
  // this one it does not fit, and beside it it must not run; it went back to its queue.
  bool gather(Item& item, const events::Record& record, engine::Sequence after);
  // Makes the message a batch of its own, without waiting for a window.
  void gather_alone(Item& item, const events::Record& record, engine::Sequence after);
  // Runs each of these batches as soon as there is room. False, and nothing is taken: the runner
  // has been retired.
  bool run_alone(const std::shared_ptr<const Plan>& plan, std::vector<Load>& loads);
  // Into the batch that is being gathered, by the plan that it began with.
  bool take(Item& item, const events::Record& record);
  void begin_window();
  void window_over(std::uint64_t window);
  void close_batch();
  void start_ready();
  void launch(Batch batch);
  void finished(const Plan& plan, const BatchRun::Summary& summary);
  void remove_filtered(std::span<const queue::ReceiptHandle> handles);
  // What the server says of the mapping and of its queue, all of one moment.
  struct Standing {
    bool defined = false;
    Duration visibility{};
  };
  Standing look_around();
  // A message whose next attempt is further away than a receive can last goes on waiting.
  bool must_wait(const Item& item);
  void give_back(std::span<const Item> items);
  void note_limit();
  void note_engaged() { stats_->engaged = !retired_ || is_receiving() || busy(); }
  unsigned ahead() const;
  unsigned room() const { return concurrency_.limit() + ahead(); }

  std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<MappingStats> stats_ = std::make_shared<MappingStats>();
  Concurrency concurrency_;
  Batch gathering_;
  RecordMaker records_;
  std::uint64_t window_ = 0;  // The number of the batch being gathered.
  std::deque<Batch> ready_;   // Batches that were cut short of others, and wait for their turn.
  unsigned running_ = 0;      // Batches that the invoker has.
  const std::shared_ptr<runtime::Lane> lane_ = std::make_shared<runtime::Lane>();
  std::chrono::microseconds run_time_{0};  // Of late, on average.
  std::size_t asked_ = 0;                  // By the last receive.
  bool backlog_ = false;                   // It brought as much.
  bool may_spend_ = false;                 // A receive, on what may not run after all.
  bool retired_ = false;
};

}  // namespace redrive::dispatch
