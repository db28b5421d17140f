#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/destination.h"
#include "events/event_document.h"
#include "events/pattern.h"
#include "functions/definition.h"
#include "queue/history.h"
#include "runtime/invoker.h"

namespace redrive::dispatch {

// A mapping, ready to be followed. Immutable: a batch ends by the plan it began with.
struct Plan {
  functions::Mapping mapping;
  std::shared_ptr<const runtime::FunctionSpec> spec;
  queue::QueueIdentity queue;
  events::EventFrame frame;  // Of its events.
  std::vector<events::Pattern> filters;
  std::optional<Destination> on_success;
  std::optional<Destination> on_failure;
  std::string consumer;     // In the history of attempts.
  std::uint64_t scope = 0;  // Of the counters that are kept with messages.

  // An event under that frame, for the invoker.
  runtime::Payload payload(std::string event) const;
  // Whether messages of a batch that failed as a whole are judged alone before they may die.
  bool isolates() const {
    return mapping.isolate_retries.value_or(true) && !queue.name.ends_with(".fifo");
  }
  // Whether runs are counted with each message.
  bool counts_runs() const { return mapping.retries_max || !mapping.retriers.empty(); }
  // How long messages are received for at least: what a handler may take, with room to spare.
  Duration hold_time() const { return spec->timeout + mapping.window + std::chrono::seconds(30); }
};

Result<std::shared_ptr<const Plan>> make_plan(functions::Mapping mapping,
                                              std::shared_ptr<const runtime::FunctionSpec> spec);

// What attempts say of who made them: the function, its code and its interpreter.
std::string consumer_of(const runtime::FunctionSpec& spec);

// What is counted with a message: how often a handler ran and failed, when to try again, and how
// often each retrier has been used.
struct RunCounts {
  std::uint32_t runs = 0;
  std::uint32_t due_seconds = 0;  // Engine time. Delays may be longer than a receive can last.
  std::vector<std::uint32_t> retries;

  // Those of another scope are others' business.
  static RunCounts read(const queue::RetryCounts& stored, std::uint64_t scope);
  queue::RetryCounts stored(std::uint64_t scope) const;
};

}  // namespace redrive::dispatch
