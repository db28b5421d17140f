#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/hold.h"
#include "dispatch/world.h"

namespace redrive::dispatch {

// Receives from a queue whenever whoever is behind it has room, waiting at the queue without cost
// when nothing is there. All on the strand.
class Poller : public std::enable_shared_from_this<Poller> {
 public:
  virtual ~Poller() = default;

  // Receives as long as there is room and something to receive. To be called whenever there may be
  // room again.
  void poll();
  // Receives nothing more.
  void halt();
  // More of what was recorded is durable now.
  virtual void synced() = 0;
  // Whether anything that was received is still being worked on.
  virtual bool busy() const = 0;

 protected:
  struct Intake {
    std::shared_ptr<const queue::QueueIdentity> queue;
    std::string consumer;
    std::size_t max = 1;
    Duration visibility{};  // As visibility_of says.
    bool isolated = false;  // Retries are isolated.
  };

  explicit Poller(std::shared_ptr<World> world) : world_(std::move(world)) {}
  World& world() { return *world_; }
  const std::shared_ptr<World>& shared_world() const { return world_; }

  // What may be received now; nothing: there is no room.
  virtual std::optional<Intake> next_intake() = 0;
  // What a receive brought. It is held from the first moment on: its time may run while it waits
  // for the strand.
  struct Catch {
    engine::ReceiveOutcome outcome;
    std::shared_ptr<Hold> hold;
  };
  virtual void received(const Catch& brought) = 0;
  // Nothing came for a while.
  virtual void waited_in_vain() {}
  // A receive that had waited has ended, and what it brought was taken.
  virtual void receive_ended() {}
  // Whether a receive waits at the queue, or its answer is on the way.
  bool is_receiving() const { return waiting_.has_value(); }
  // How long what is received from a queue stays hidden: as the queue has it, but at least that.
  static Duration visibility_of(const queue::Queue* queue, Duration hold_time);
  // Ends the waiting, if any, so that the next poll() asks anew.
  void interrupt();

 private:
  using Answer = Result<Catch>;
  static std::shared_ptr<Answer> keep(World& world, Result<engine::ReceiveOutcome> outcome,
                                      Hold::Terms terms);
  // Nobody is there any more who would work on it.
  static void give_back(World& world, const Hold::Terms& terms, const Answer& answer);
  void answered(const std::shared_ptr<Answer>& answer);
  // False: not now.
  bool take(const Answer& answer);
  void pause();

  const std::shared_ptr<World> world_;
  std::optional<engine::WaitId> waiting_;
  int failures_ = 0;  // In a row.
  bool pausing_ = false;
  bool halted_ = false;
};

}  // namespace redrive::dispatch
