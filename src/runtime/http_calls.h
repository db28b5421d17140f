#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "http/outgoing_policy.h"
#include "runtime/worker.h"

namespace redrive::runtime {

// Functions that are somebody's HTTP endpoint: asked by threads that wait for the answer, made when
// there is more to ask than threads, and kept.
class HttpCalls {
 public:
  using Ended = std::function<void(Outcome)>;

  explicit HttpCalls(http::OutgoingPolicyPtr outgoing) : state_(std::make_shared<State>()) {
    state_->outgoing = std::move(outgoing);
  }
  // Calls that are under way go on by themselves and are forgotten.
  ~HttpCalls();
  HttpCalls(const HttpCalls&) = delete;
  HttpCalls& operator=(const HttpCalls&) = delete;

  // `ended` is called on another thread, unless this object is gone by then.
  void start(std::shared_ptr<const FunctionSpec> function, Invocation what, Ended ended);

 private:
  struct Call {
    std::shared_ptr<const FunctionSpec> function;
    Invocation what;
    Ended ended;
  };
  struct State {
    std::mutex mutex;  // Guards the others.
    std::deque<Call> calls;
    unsigned idle = 0;
    bool over = false;
    std::condition_variable asked;
    http::OutgoingPolicyPtr outgoing;
  };
  static void work(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace redrive::runtime
