#pragma once

#include <memory>
#include <mutex>
#include <string>
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
    queue::QueueIdentity queue;
    Duration visibility;  // As they were received with, and for as long again each time.
  };
  static std::shared_ptr<Hold> begin(engine::Engine& engine, Terms terms,
                                     std::vector<std::string> handles);
  ~Hold();

  Timestamp received_at() const { return received_at_; }
  // This message is let go. When it returns, nobody prolongs it any more.
  void forget(const std::string& handle);

 private:
  Hold(engine::Engine& engine, Terms terms, std::vector<std::string> handles)
      : engine_(engine),
        terms_(std::move(terms)),
        received_at_(engine.now()),
        handles_(std::move(handles)) {}
  void schedule();
  void prolong();

  engine::Engine& engine_;
  const Terms terms_;
  const Timestamp received_at_;
  std::mutex mutex_;  // Taken before the engine's turn. Guards the rest.
  std::vector<std::string> handles_;
  engine::CallId call_;
};

}  // namespace redrive::dispatch
