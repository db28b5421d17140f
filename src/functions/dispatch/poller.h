#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "functions/dispatch/hold.h"
#include "functions/dispatch/world.h"

namespace redrive::dispatch {

// Receives from a queue whenever its consumer has capacity, waiting at the queue (long poll) at no
// cost while it is empty. All on the strand.
class Poller : public std::enable_shared_from_this<Poller> {
 public:
  virtual ~Poller() = default;

  // Receives while there is capacity and there are messages. Call whenever capacity may have become
  // available.
  void poll();
  // Stops receiving.
  void halt();
  // More of the journal has become durable.
  virtual void synced() = 0;
  // Whether received messages are still being processed.
  virtual bool busy() const = 0;

 protected:
  struct Intake {
    std::shared_ptr<const queue::QueueIdentity> queue;
    std::string consumer;
    std::size_t max = 1;
    Duration visibility{};  // See visibility_of.
    bool isolated = false;  // Retries are isolated.
  };

  explicit Poller(std::shared_ptr<World> world) : world_(std::move(world)) {}
  World& world() { return *world_; }
  const std::shared_ptr<World>& shared_world() const { return world_; }

  // What to receive now; nullopt if there is no capacity.
  virtual std::optional<Intake> next_intake() = 0;
  // Result of a receive. Visibility is extended from the start, because it may expire while waiting
  // for the strand.
  struct Catch {
    engine::ReceiveOutcome outcome;
    std::shared_ptr<Hold> hold;
  };
  virtual void received(const Catch& brought) = 0;
  // A long poll ended without messages.
  virtual void waited_in_vain() {}
  // A long poll has ended, and its messages have been handled.
  virtual void receive_ended() {}
  // Whether a receive is waiting at the queue or its result is pending.
  bool is_receiving() const { return waiting_.has_value(); }
  // Visibility timeout for a receive: the queue's, but at least `hold_time`.
  static Duration visibility_of(const queue::Queue* queue, Duration hold_time);
  // Cancels a waiting receive, so that the next poll() starts a new one.
  void interrupt();

 private:
  using Answer = Result<Catch>;
  static std::shared_ptr<Answer> keep(World& world, Result<engine::ReceiveOutcome> outcome,
                                      Hold::Terms terms);
  // Returns messages to the queue when the poller no longer exists.
  static void give_back(World& world, const Hold::Terms& terms, const Answer& answer);
  void answered(const std::shared_ptr<Answer>& answer);
  // Returns false to stop polling for now.
  bool take(const Answer& answer);
  void pause();

  const std::shared_ptr<World> world_;
  std::optional<engine::WaitId> waiting_;
  int failures_ = 0;  // Consecutive.
  bool pausing_ = false;
  bool halted_ = false;
};

}  // namespace redrive::dispatch
