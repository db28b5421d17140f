#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "core/engine/engine.h"

namespace redrive::dispatch {

// Keeps received messages invisible while they are processed, for at most the twelve hours that a
// receive may last.
//
// Thread-safe. Visibility is extended on the thread that ticks the engine, before it advances time:
// messages stay invisible even if the clock is moved by hours.
class Hold : public std::enable_shared_from_this<Hold> {
 public:
  struct Terms {
    std::shared_ptr<const queue::QueueIdentity> queue;
    Duration visibility;  // As received, and the length of each extension.
    queue::ReceiptHandle::Secret secret;
  };
  static std::shared_ptr<Hold> begin(engine::Engine& engine, Terms terms,
                                     std::span<const engine::Received> received);
  ~Hold();

  Timestamp received_at() const { return received_at_; }
  // Releases these messages. On return, they are no longer extended.
  void forget(std::span<const queue::ReceiptHandle> handles);
  void forget(const queue::ReceiptHandle& handle) { forget({&handle, 1}); }

 private:
  Hold(engine::Engine& engine, Terms terms)
      : engine_(engine), terms_(std::move(terms)), received_at_(engine.now()) {}
  void schedule() REQUIRES(mutex_);
  void prolong();

  engine::Engine& engine_;
  const Terms terms_;
  const Timestamp received_at_;
  Mutex mutex_;  // Acquired before the engine's turn.
  std::vector<queue::ReceiptHandle> handles_ GUARDED_BY(mutex_);
  engine::CallId call_ GUARDED_BY(mutex_);
};

}  // namespace redrive::dispatch
