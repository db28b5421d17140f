#pragma once

#include <string>

#include "aws/sqs/service.h"
#include "core/engine/engine.h"
#include "core/engine/notice.h"
#include "dead_letters/dead_letters.h"
#include "functions/dispatch/item.h"
#include "observe/traces/exporter.h"

namespace redrive::app {

// Tells a collector what happens to messages: that they were received, run, dead-lettered and
// redriven, each span under that of the message's first send. Everything from any thread.
class Tracing {
 public:
  Tracing(std::string endpoint, engine::Engine& engine, dead_letters::DeadLetters& dead_letters);

  void received(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome);
  void ran(const dispatch::RunReport& report);
  // Of what the engine notices only dead letters; the message is looked at later, not in turn.
  void noticed(const engine::Notice& notice);

  std::uint64_t sent() const { return exporter_.sent(); }
  std::uint64_t dropped() const { return exporter_.dropped(); }

 private:
  struct Happening;
  struct Arrival;
  void tell_arrival(const Arrival& arrival);
  void add(const Happening& happening);
  void look_up(const engine::Notice& notice, Timestamp wall);
  traces::SpanId new_id();

  engine::Engine& engine_;
  dead_letters::DeadLetters& dead_letters_;
  traces::Exporter exporter_;  // Behind what its thread asks.
};

}  // namespace redrive::app
