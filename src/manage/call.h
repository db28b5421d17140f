#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "alarms/watcher.h"
#include "api/gate.h"
#include "api/witness.h"
#include "documents/logs.h"
#include "documents/overview.h"
#include "engine/engine.h"
#include "engine/time_travel.h"
#include "http/message.h"
#include "manage/route.h"
#include "metrics/history.h"
#include "wire/decoder.h"
#include "wire/encode.h"

namespace redrive::manage {

// What the operations work on. Parts that a server may lack are pointers.
struct Parts {
  engine::Engine& engine;
  const api::Gate& gate;
  engine::TimeTravel* time = nullptr;  // Only with --virtual-clock.
  bool disposable = false;             // Nothing here is meant to last, so it may be thrown away.
  api::Observers observers = {};
  const metrics::History* history = nullptr;
  std::function<void()> observe = {};  // Brings the history to this moment.
  alarms::Watcher* watcher = nullptr;
  // Lines of the log after that number, at most so many; may be empty.
  std::function<std::vector<documents::KeptLogLine>(std::uint64_t, std::size_t)> log_after = {};
  // How old the oldest message of a queue is; may be empty.
  std::function<Duration(const queue::State&, const queue::Queue&, const queue::Stamp&)>
      oldest_age = {};
  // What feeds functions, and how that goes; may be empty.
  std::function<std::vector<documents::KeptHandler>()> handlers = {};
  // Empties the archive buckets, and says how many there were; empty: there are none.
  std::function<Result<std::size_t>()> clear_buckets;
  // Functions and mappings are gone; may be empty.
  std::function<void()> catalogue_cleared = {};
};

std::unexpected<Error> no_such_message();
// What to answer when a message's bytes could not be read.
std::unexpected<Error> unreadable_message(const Error& error);

// One request to the management API.
class Call {
 public:
  Call(const Parts& the_parts, const http::Request& the_request, api::Caller the_caller,
       PathParameters parameters)
      : parts(the_parts),
        request(the_request),
        caller(std::move(the_caller)),
        parameters_(std::move(parameters)) {}

  const Parts& parts;
  const http::Request& request;
  const api::Caller caller;

  // What stood in the path for {name}, which the route's pattern has.
  std::string_view parameter(std::string_view name) const;
  // The queue of the caller's account and region that {name} stands for; an error if the caller's
  // key is for other queues.
  Result<queue::QueueIdentity> queue(std::string_view name) const;
  // The key of a message that {name} stands for.
  Result<queue::MessageKey> message_key(std::string_view name) const;
  // Whether the caller's key is for this queue.
  Result<void> allow(const queue::QueueIdentity& queue) const;
  // A queue of the caller's account and region by name, or any by ARN.
  Result<queue::QueueIdentity> queue_called(std::string_view name_or_arn) const;
  // Who acts, for those who will read of it.
  std::string actor() const;
  // What stands in the query string, decoded; empty when it does not say.
  std::string query(std::string_view name) const;
  // From 1 to `max`; `otherwise` when the query string does not say.
  Result<std::size_t> query_number(std::string_view name, std::size_t otherwise,
                                   std::size_t max) const;
  wire::Decoder& decoder() const;
  // Keeps a text alive until the answer is written.
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

 private:
  PathParameters parameters_;
  std::deque<std::string> kept_;
};

namespace detail {

template <class Output>
Result<Document> to_json(const Result<Output>& output) {
  if (!output) return std::unexpected(output.error());
  Document document;
  wire::encode_json(document.body, *output);
  return document;
}

template <class Output>
Result<Document> run(Result<Output> (*operation)(Call&), Call& call) {
  return to_json(operation(call));
}
template <class Input, class Output>
Result<Document> run(Result<Output> (*operation)(Call&, const Input&), Call& call) {
  Input input;
  CHECK(wire::decode_json(call.decoder(), call.request.body, input));
  return to_json(operation(call, input));
}

}  // namespace detail

// Makes a route's `run` of a function from structs to structs, whose shapes say what travels:
// `Result<Output>(Call&)` or `Result<Output>(Call&, const Input&)`.
template <auto operation>
Result<Document> as_json(Call& call) {
  return detail::run(operation, call);
}

}  // namespace redrive::manage
