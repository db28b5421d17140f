#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/engine/engine.h"
#include "core/engine/time_travel.h"
#include "dead_letters/dead_letters.h"
#include "front/authorize.h"
#include "front/gate.h"
#include "front/masking.h"
#include "front/pipeline.h"
#include "front/request_telemetry.h"
#include "manage/audit.h"
#include "manage/documents/logs.h"
#include "manage/documents/overview.h"
#include "manage/route.h"
#include "net/http/message.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "observe/alarms/watcher.h"
#include "observe/metrics/history.h"

namespace redrive::manage {

// The contents of an archived message.
struct ArchivedContents {
  struct Attribute {
    std::string name;
    std::string data_type;
    std::string value;  // Empty of binary ones.
  };
  std::string body;
  std::vector<Attribute> attributes;
  std::string group_id;
  std::string dedup_id;
};

// What the operations work on. Parts that a server may lack are pointers.
struct Parts {
  engine::Engine& engine;
  dead_letters::DeadLetters& dead_letters;
  const front::Gate& gate;
  engine::TimeTravel* time = nullptr;  // Only with --virtual-clock.
  bool disposable = false;             // The data is for tests and may be removed.
  std::string_view version = {};       // Of the server.
  front::Observers observers = {};
  const metrics::History* history = nullptr;
  std::function<void()> observe = {};  // Brings the history to this moment.
  alarms::Watcher* watcher = nullptr;
  // Lines of the log after that number, with a maximum; may be empty.
  std::function<std::vector<documents::KeptLogLine>(std::uint64_t, std::size_t)> log_after = {};
  // Lines of the audit log; may be empty.
  std::function<Result<AuditLines>(const AuditQuery&)> audit = {};
  // How old the oldest message of a queue is; may be empty.
  std::function<Duration(const queue::State&, const queue::Queue&, const queue::Stamp&)>
      oldest_age = {};
  // Mappings and asynchronous invocations with their counts; may be empty.
  std::function<std::vector<documents::KeptHandler>()> handlers = {};
  // Empties the archive buckets and returns how many there were; empty: there are none.
  std::function<Result<std::size_t>()> clear_buckets;
  // Reads the document of a dead letter that this server archived into a bucket of its own; an
  // error if the place is elsewhere. May be empty.
  std::function<Result<ArchivedContents>(std::string_view place, std::string_view account)>
      read_archived = {};
  // Functions and mappings are gone; may be empty.
  std::function<void()> catalogue_cleared = {};
  front::BucketOwner bucket_owner = {};  // Empty: there are no buckets.
  front::Offload offload = {};  // Empty: everything runs on the thread that calls handle().
  std::shared_ptr<const triage::MaskRules> mask_rules = {};  // May be null.
  // Paths of files with secrets of access keys, and whether `others` or the `group` can read them;
  // only those that one of them can. May be empty.
  std::function<std::vector<std::pair<std::string, std::string>>()> exposed_key_files = {};
};

std::unexpected<Error> no_such_message();
// What to answer when a message's bytes could not be read.
std::unexpected<Error> unreadable_message(const Error& error);

// One request to the management API.
class Call {
 public:
  Call(const Parts& the_parts, const front::RequestContext& the_context, const Route& route)
      : parts(the_parts),
        context(the_context),
        masking(caller, request.query, the_parts.mask_rules),
        route_(route),
        operation_name_("redrive:" + std::string(route_.operation)) {}

  const Parts& parts;
  const front::RequestContext& context;
  const http::Request& request = context.request;
  const front::Caller& caller = context.caller;
  front::Masking masking;

  // The value of {name} in the path; the route's pattern must contain it.
  std::string_view parameter(std::string_view name) const;
  // What the route does, for decisions about it.
  front::Operation operation() const;
  // Whether the caller may use this route at all; where its path names a queue or a function, for
  // that one.
  // Called before the route runs. What else a request names is authorised by the operation.
  Result<void> authorize() const;
  // The queue of the caller's account and region that {name} stands for.
  queue::QueueIdentity queue(std::string_view name) const;
  // The function that {function} stands for: a name or an ARN, with or without a qualifier.
  struct FunctionCalled {
    std::string account;
    std::string region;
    std::string name;       // Without the qualifier.
    std::string qualified;  // The same with it: `f:live`.
  };
  FunctionCalled path_function() const;
  // The queue that {queue} stands for: a name, or an ARN.
  Result<queue::QueueIdentity> path_queue() const { return identity_called(parameter("queue")); }
  // The key of a message that {name} stands for.
  Result<queue::MessageKey> message_key(std::string_view name) const;
  // Whether the caller may do to this queue what the route does. The second is for use in turn.
  Result<void> allow(const queue::QueueIdentity& queue) const;
  Result<void> allow(const queue::State& state, const queue::QueueIdentity& queue) const;
  // A queue of the caller's account and region by name, or any by ARN; nothing is decided yet.
  Result<queue::QueueIdentity> identity_called(std::string_view name_or_arn) const;
  // A queue of the caller's account and region by name, or any by ARN, if the caller may do what
  // the route does to it.
  Result<queue::QueueIdentity> queue_called(std::string_view name_or_arn) const;
  // The same for a queue that messages are put into.
  Result<queue::QueueIdentity> destination_called(std::string_view name_or_arn) const;
  // Whether the caller may know of a queue and its numbers. The first is for use in turn.
  bool sees(const queue::State& state, const queue::QueueIdentity& queue) const;
  bool sees(const queue::QueueIdentity& queue) const;
  bool sees_function(std::string_view account, std::string_view region,
                     std::string_view name) const;
  // Whether the caller may see everything on this server.
  bool sees_all() const;
  // The actor, for histories and the audit log.
  std::string actor() const;
  // A decoded parameter of the query string; empty if absent.
  std::string query(std::string_view name) const;
  // From 1 to `max`; `otherwise` if absent.
  Result<std::size_t> query_number(std::string_view name, std::size_t otherwise,
                                   std::size_t max) const;
  wire::Decoder& decoder() const;
  // Keeps a text alive until the answer is written.
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

 private:
  const Route& route_;
  const std::string operation_name_;
  std::deque<std::string> kept_;
};

namespace detail {

// Answers with users' data say whether secrets are masked.
template <class Output>
Result<Document> to_json(Result<Output> output, Call& call) {
  if (!output) return std::unexpected(output.error());
  Document document;
  call.masking.apply(*output);
  wire::encode_json(document.body, *output);
  if (wire::has_sensitive(wire::kRecord<Output>)) {
    front::append_masked_member(document.body, call.masking.masked());
  }
  return document;
}

template <class Output>
Result<Document> run(Result<Output> (*operation)(Call&), Call& call) {
  return to_json(operation(call), call);
}
template <class Input, class Output>
Result<Document> run(Result<Output> (*operation)(Call&, const Input&), Call& call) {
  Input input;
  RETURN_IF_ERROR(wire::decode_json(call.decoder(), call.request.padded_body(), input));
  return to_json(operation(call, input), call);
}

}  // namespace detail

// Makes a route's `run` from a function on structs with shapes: `Result<Output>(Call&)` or
// `Result<Output>(Call&, const Input&)`.
template <auto operation>
Result<Document> as_json(Call& call) {
  return detail::run(operation, call);
}

}  // namespace redrive::manage
