#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace redrive::dispatch {

// Keeps received messages from becoming visible while somebody works on them, for at most the
// twelve hours that a receive may last.
//
// From any thread. Prolonging happens on the thread that ticks the engine, and before it lets time
// go on: under a clock that is moved by hours the messages stay where they are.
class Hold : public std::enable_shared_from_this<Hold> {
 public:
  struct Terms {
    std::shared_ptr<const queue::QueueIdentity> queue;
    Duration visibility;  // As they were received with, and for as long again each time.
    queue::ReceiptHandle::Secret secret;
  };
  static std::shared_ptr<Hold> begin(engine::Engine& engine, Terms terms,
                                     std::span<const engine::Received> received);
  ~Hold();

  Timestamp received_at() const { return received_at_; }
  // These messages are let go. When it returns, nobody prolongs them any more.
  void forget(std::span<const queue::ReceiptHandle> handles);
  void forget(const queue::ReceiptHandle& handle) { forget({&handle, 1}); }

 private:
  Hold(engine::Engine& engine, Terms terms)
      : engine_(engine), terms_(std::move(terms)), received_at_(engine.now()) {}
  void schedule();
  void prolong();

  engine::Engine& engine_;
  const Terms terms_;
  const Timestamp received_at_;
  std::mutex mutex_;  // Taken before the engine's turn. Guards the rest.
  std::vector<queue::ReceiptHandle> handles_;
  engine::CallId call_;
};

}  // namespace redrive::dispatch
