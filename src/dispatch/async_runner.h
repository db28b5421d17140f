#pragma once

#include <deque>
#include <memory>

#include "dispatch/concurrency.h"
#include "dispatch/definitions.h"
#include "dispatch/item.h"
#include "dispatch/plan.h"
#include "dispatch/poller.h"
#include "dispatch/stats.h"
#include "events/record_documents.h"

namespace redrive::dispatch {

// Runs the events that wait for a function, each by itself, with Lambda's retries: twice after
// errors, after one minute and after two; as long as the event is young enough when the function
// did not run. What failed for good goes to the function's dead-letter queue and to OnFailure. On
// the strand.
class AsyncRunner final : public Poller {
 public:
  AsyncRunner(std::shared_ptr<World> world, Definitions::Entry entry);

  void adopt(Definitions::Entry entry) { entry_ = std::move(entry); }
  bool busy() const override { return running_ > 0 || !waiting_.empty(); }
  void synced() override;
  const std::shared_ptr<AsyncStats>& stats() const { return stats_; }

 private:
  // One attempt at one event.
  struct Run {
    Definitions::Entry entry;  // As it was when it began.
    Item item;
    std::string event;
    std::uint32_t runs = 0;  // That ended with an error, before this one.
  };
  using RunPtr = std::shared_ptr<const Run>;

  std::optional<Intake> next_intake() override;
  void received(const Catch& brought) override;
  void waited_in_vain() override { concurrency_.idle(); }

  struct Waiting {
    engine::Sequence after = 0;
    Item item;
    std::string event;
  };
  void begin(Waiting next);
  void answered(const RunPtr& run, const runtime::Outcome& outcome);
  void succeeded(const RunPtr& run, const runtime::Outcome& outcome);
  void failed(const RunPtr& run, const runtime::Outcome& outcome);
  void not_run(const RunPtr& run, const runtime::Outcome& outcome);
  // Failed for good.
  void give_up(const RunPtr& run, std::uint32_t runs, std::string_view condition,
               const runtime::Outcome* outcome);
  bool too_old(const Run& run, Duration after);
  std::string document_of(const Run& run, std::uint32_t runs, std::string_view condition,
                          const runtime::Outcome* outcome);
  Result<void> send_dead_letter(const Run& run, const runtime::Outcome* outcome);
  // To the destination if there is one, and out of the queue in any case.
  void send_away(const RunPtr& run, const std::string& to, std::string document);
  void remove(const Run& run);
  void ended(const Run& run);

  Definitions::Entry entry_;
  const std::shared_ptr<const queue::QueueIdentity> queue_;
  Concurrency concurrency_;
  const std::shared_ptr<AsyncStats> stats_ = std::make_shared<AsyncStats>();
  std::deque<Waiting> waiting_;  // Until it is durable that they were received.
  unsigned running_ = 0;
};

}  // namespace redrive::dispatch
