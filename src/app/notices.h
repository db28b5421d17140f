#pragma once

#include <cassert>

#include "app/event_log.h"
#include "app/tracing.h"
#include "front/request_telemetry.h"

namespace redrive::app {

// Where notices of the engine and of the APIs go: to the log, and to the traces if there are any.
class Notices {
 public:
  explicit Notices(EventLog& log) : log_(log) {}

  // Before the first request: tracing uses the engine, so it comes after it.
  void attach(Tracing& tracing) {
    assert(tracing_ == nullptr);
    tracing_ = &tracing;
  }

  void write(const engine::Notice& notice);
  void write(const front::FailedRequest& failed);

 private:
  EventLog& log_;
  Tracing* tracing_ = nullptr;
};

}  // namespace redrive::app
