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

// Dependencies of the operations.
struct Parts {
  engine::Engine& engine;
  const front::Gate& gate;
  Functions& functions;
  runtime::Invoker& invoker;
  objects::Store* buckets = nullptr;  // For S3Bucket and S3Key.
  // Queues an event for an asynchronous invocation. It is durable with the answer. A version or an
  // alias is named with its qualifier: `orders:live`.
  std::function<Result<void>(const functions::FunctionId&, const runtime::Invocation&)>
      invoke_async;
  // Called after a function, a mapping or an invoke configuration has changed.
  std::function<void()> changed;
  front::Observers observers = {};
  // Whether a mapping still receives or processes messages; empty: none does.
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
  // For operations that finish after they return: set `context.later` and call this once, from any
  // thread.
  const front::Respond respond = {};
  const http::Request& request = context.request;
  const front::Caller& caller = context.caller;

  Home home() const { return {caller.account, caller.region}; }
  // The value of {name} in the path.
  std::string_view parameter(std::string_view name) const;
  // A parameter of the query string, decoded; empty if absent.
  std::string query(std::string_view name) const;
  // The page size: `MaxItems`, at most `max`.
  Outcome<std::size_t> items_max(std::size_t max) const;
  // The function that {function} and Qualifier name; refused if the caller's key does not cover it.
  Outcome<CalledFunction> function() const;
  Outcome<CalledFunction> function_called(std::string_view text) const;
  // The operation, for authorisation.
  front::Operation operation() const { return {.name = operation_name, .right = right}; }
  // Authorises the operation on a function.
  Outcome<void> may_touch(const functions::FunctionId& function) const;
  // Authorises an operation on a queue, or on the objects of a bucket.
  Outcome<void> authorize(const front::Operation& what, const queue::QueueIdentity& queue) const;
  Outcome<void> authorize_objects(const front::Operation& what, const std::string& bucket) const;
  // Whether the body has this member and it is not null.
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

  // The body, or an empty object if there is none.
  PaddedView padded_body() const;

  // Keeps uploaded code on disk until the request is done; see CodeStore::Stored.
  std::shared_ptr<const void> code_pin = {};

  std::deque<std::string> kept = {};
};

}  // namespace redrive::lambda
