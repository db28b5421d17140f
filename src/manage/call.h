#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "api/gate.h"
#include "engine/engine.h"
#include "engine/time_travel.h"
#include "http/message.h"
#include "manage/route.h"
#include "wire/decoder.h"
#include "wire/encode.h"

namespace redrive::manage {

// What the operations work on. Parts that a server may lack are pointers.
struct Parts {
  engine::Engine& engine;
  const api::Gate& gate;
  engine::TimeTravel* time = nullptr;  // Only with --virtual-clock.
  bool disposable = false;             // Nothing here is meant to last, so it may be thrown away.
};

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
