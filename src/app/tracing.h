#pragma once

#include <string>

#include "aws/sqs/service.h"
#include "core/engine/engine.h"
#include "core/engine/notice.h"
#include "dead_letters/dead_letters.h"
#include "functions/dispatch/item.h"
#include "observe/traces/exporter.h"

namespace redrive::app {

// Exports what happens to messages: received, run, dead-lettered and redriven, each span under the
// span of the message's first send. Everything from any thread.
class Tracing {
 public:
  Tracing(std::string endpoint, engine::Engine& engine, dead_letters::DeadLetters& dead_letters);

  void received(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome);
  void ran(const dispatch::RunReport& report);
  // Only dead letters; the message is read later, not in turn.
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
  traces::Exporter exporter_;  // After the members that its thread uses.
};

}  // namespace redrive::app
