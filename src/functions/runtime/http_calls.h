#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "functions/runtime/worker.h"
#include "net/http/outgoing_policy.h"

namespace redrive::runtime {

// Functions with runtime "http": calls endpoints on blocking threads, which are created on demand
// and kept.
class HttpCalls {
 public:
  using Ended = std::function<void(Outcome)>;

  explicit HttpCalls(http::OutgoingPolicyPtr outgoing) : state_(std::make_shared<State>()) {
    state_->outgoing = std::move(outgoing);
  }
  // Calls in progress finish on their own; their results are dropped.
  ~HttpCalls();
  HttpCalls(const HttpCalls&) = delete;
  HttpCalls& operator=(const HttpCalls&) = delete;

  // `ended` is called on another thread, unless this object has been destroyed by then.
  void start(std::shared_ptr<const FunctionSpec> function, Invocation what, Ended ended);

 private:
  struct Call {
    std::shared_ptr<const FunctionSpec> function;
    Invocation what;
    Ended ended;
  };
  struct State {
    Mutex mutex;
    std::deque<Call> calls GUARDED_BY(mutex);
    unsigned idle GUARDED_BY(mutex) = 0;
    bool over GUARDED_BY(mutex) = false;
    ConditionVariable asked;
    http::OutgoingPolicyPtr outgoing;
  };
  static void work(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace redrive::runtime
