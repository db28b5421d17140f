#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/queue/history.h"
#include "functions/definitions/definition.h"
#include "functions/dispatch/destination.h"
#include "functions/events/event_document.h"
#include "functions/events/pattern.h"
#include "functions/runtime/invoker.h"

namespace redrive::dispatch {

// A mapping, resolved for execution. Immutable: a batch is completed with the plan it was started
// with.
struct Plan {
  functions::Mapping mapping;
  std::shared_ptr<const runtime::FunctionSpec> spec;
  queue::QueueIdentity queue;
  events::EventFrame frame;  // For its events.
  std::vector<events::Pattern> filters;
  std::optional<Destination> on_success;
  std::optional<Destination> on_failure;
  std::string consumer;     // Recorded in the history of attempts.
  std::uint64_t scope = 0;  // Of the counters stored with messages.

  // An event with this frame, for the invoker.
  runtime::Payload payload(std::string event) const;
  // Whether messages of a batch that failed as a whole are run individually before they may be
  // dead-lettered.
  bool isolates() const {
    return mapping.isolate_retries.value_or(true) && !queue.name.ends_with(".fifo");
  }
  // Whether runs are counted for each message.
  bool counts_runs() const { return mapping.retries_max || !mapping.retriers.empty(); }
  // Minimum visibility timeout for a receive: the handler's time limit with a margin.
  Duration hold_time() const { return spec->timeout + mapping.window + std::chrono::seconds(30); }
};

Result<std::shared_ptr<const Plan>> make_plan(functions::Mapping mapping,
                                              std::shared_ptr<const runtime::FunctionSpec> spec);

// How attempts identify the consumer: the function, its code and its interpreter.
std::string consumer_of(const runtime::FunctionSpec& spec);

// Counters stored with a message: how often a handler ran and failed, when to try again, and how
// often each retrier was used.
struct RunCounts {
  std::uint32_t runs = 0;
  // Engine time. Delays may exceed the maximum duration of a receive.
  std::uint32_t due_seconds = 0;
  std::vector<std::uint32_t> retries;

  // Counters of another scope are ignored.
  static RunCounts read(const queue::RetryCounts& stored, std::uint64_t scope);
  queue::RetryCounts stored(std::uint64_t scope) const;
};

}  // namespace redrive::dispatch
