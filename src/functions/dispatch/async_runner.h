#pragma once

#include <deque>
#include <memory>

#include "functions/dispatch/concurrency.h"
#include "functions/dispatch/definitions.h"
#include "functions/dispatch/item.h"
#include "functions/dispatch/plan.h"
#include "functions/dispatch/poller.h"
#include "functions/dispatch/stats.h"
#include "functions/events/record_documents.h"

namespace redrive::dispatch {

// Runs a function's queued events, each by itself, with Lambda's retries: twice after errors, after
// one minute and after two; while the event is young enough if the function could not run. Events
// that failed for good go to the function's dead-letter queue and to OnFailure. On the strand.
class AsyncRunner final : public Poller {
 public:
  AsyncRunner(std::shared_ptr<World> world, Definitions::Entry entry);

  void adopt(Definitions::Entry entry) { entry_ = std::move(entry); }
  bool busy() const override { return running_ > 0 || !waiting_.empty(); }
  void synced() override;
  const std::shared_ptr<AsyncStats>& stats() const { return stats_; }

 private:
  // One attempt for one event.
  struct Run {
    Definitions::Entry entry;  // As of the start.
    Item item;
    std::string event;
    std::uint32_t runs = 0;  // Earlier runs that ended with an error.
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
  // The event failed for good.
  void give_up(const RunPtr& run, std::uint32_t runs, std::string_view condition,
               const runtime::Outcome* outcome);
  bool too_old(const Run& run, Duration after);
  std::string document_of(const Run& run, std::uint32_t runs, std::string_view condition,
                          const runtime::Outcome* outcome);
  Result<void> send_dead_letter(const Run& run, const runtime::Outcome* outcome);
  // Sends to the destination, if there is one, and removes the event from the queue in any case.
  void send_away(const RunPtr& run, const std::string& to, std::string document);
  void remove(const Run& run);
  void ended(const Run& run);

  Definitions::Entry entry_;
  const std::shared_ptr<const queue::QueueIdentity> queue_;
  Concurrency concurrency_;
  const std::shared_ptr<AsyncStats> stats_ = std::make_shared<AsyncStats>();
  std::deque<Waiting> waiting_;  // Until their receive is durable.
  unsigned running_ = 0;
};

}  // namespace redrive::dispatch
