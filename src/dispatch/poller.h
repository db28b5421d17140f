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
    queue::QueueIdentity queue;
    std::string consumer;
    std::size_t max = 1;
    Duration hold_time{};  // The visibility is at least this.
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
    std::vector<std::string> handles;  // One for each message.
    std::shared_ptr<Hold> hold;

    const std::string& handle_of(const engine::Received& received) const {
      return handles[static_cast<std::size_t>(&received - outcome.messages.data())];
    }
  };
  virtual void received(const Catch& brought) = 0;
  // Nothing came for a while.
  virtual void waited_in_vain() {}
  // Ends the waiting, if any, so that the next poll() asks anew.
  void interrupt();

 private:
  using Answer = Result<Catch>;
  engine::ReceiveStart ask(const Intake& intake);
  Duration visibility_of(const Intake& intake);
  static std::shared_ptr<Answer> keep(World& world, Result<engine::ReceiveOutcome> outcome,
                                      Hold::Terms terms);
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
