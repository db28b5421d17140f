#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aws/lambda/answer.h"
#include "aws/lambda/functions.h"
#include "aws/lambda/names.h"
#include "base/padded_text.h"
#include "core/engine/engine.h"
#include "front/catalogue_access.h"
#include "front/gate.h"
#include "front/masking.h"
#include "front/pipeline.h"
#include "functions/runtime/invoker.h"
#include "net/http/message.h"
#include "net/http/path_pattern.h"
#include "net/wire/decoder.h"
#include "objects/store.h"

namespace redrive::lambda {

// What the operations work on.
struct Parts {
  engine::Engine& engine;
  const front::Gate& gate;
  Functions& functions;
  runtime::Invoker& invoker;
  objects::Store* buckets = nullptr;  // Where S3Bucket and S3Key are looked for.
  // Takes an event for a function, to be worked on later. It is durable with the answer. The name
  // of a version or an alias has its qualifier behind it: `orders:live`.
  std::function<Result<void>(const functions::FunctionId&, const runtime::Invocation&)>
      invoke_async;
  // A function, a mapping or an invoke configuration is another than before.
  std::function<void()> changed;
  front::Observers observers = {};
  // Whether a mapping may still receive messages or works on some; empty: none does.
  std::function<bool(const std::string& mapping)> is_engaged = {};
  bool directories = false;  // Functions may run from directories that a caller names.
  std::shared_ptr<const triage::MaskRules> mask_rules = {};  // May be null.
};

using http::PathParameters;

// One request to the Lambda API.
struct Call {
  const Parts& parts;
  front::RequestContext& context;
  const std::string operation_name;  // lambda:CreateFunction
  const auth::Right right;           // That the operation needs.
  // For what is not done when the operation returns: give the answer here instead, once, from any
  // thread, and set `context.later`.
  const front::Respond respond = {};
  const http::Request& request = context.request;
  const front::Caller& caller = context.caller;

  Home home() const { return {caller.account, caller.region}; }
  // What stood in the path for {name}, which the route's pattern has.
  std::string_view parameter(std::string_view name) const;
  // What stands in the query string, decoded; empty when it does not say.
  std::string query(std::string_view name) const;
  // A page's size: what `MaxItems` says, at most `max`.
  Outcome<std::size_t> items_max(std::size_t max) const;
  // The function that {function} and Qualifier name; refused when the caller's key is for others.
  Outcome<CalledFunction> function() const;
  Outcome<CalledFunction> function_called(std::string_view text) const;
  // What is done, for decisions about it.
  front::Operation operation() const { return {.name = operation_name, .right = right}; }
  // Whether the caller may do this to that function.
  Outcome<void> may_touch(const functions::FunctionId& function) const;
  // Whether the caller may do something to that queue, or to the objects of that bucket.
  Outcome<void> authorize(const front::Operation& what, const queue::QueueIdentity& queue) const;
  Outcome<void> authorize_objects(const front::Operation& what, const std::string& bucket) const;
  // Whether the body, which has been decoded, names this member at all.
  bool body_names(std::string_view member) const;
  // Keeps a text alive until the answer is written.
  std::string_view keep(std::string text) { return kept.emplace_back(std::move(text)); }
  wire::Decoder& decoder() const;

  // The body as T. A member that T does not have is refused: it could change what a function does.
  template <class T>
  Outcome<T> body() const {
    T input;
    const auto decoded =
        wire::decode_json(decoder(), padded_body(), input, wire::UnknownMembers::refuse);
    if (!decoded) return std::unexpected(refusal_of(decoded.error()));
    return input;
  }

  // The body, or an empty object where there is none.
  PaddedView padded_body() const;

  // Code that the request brought stays on disk until it is done, see CodeStore::Stored.
  std::shared_ptr<const void> code_pin = {};

  std::deque<std::string> kept = {};
};

}  // namespace redrive::lambda
