#include "aws/sqs/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/access.h"
#include "aws/sqs/audit.h"
#include "aws/sqs/model/actions.h"
#include "aws/sqs/model/errors.h"
#include "aws/sqs/model/reply.h"
#include "aws/sqs/operations.h"
#include "aws/sqs/send_message.h"
#include "base/text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace redrive::sqs {

enum class Protocol { json, query, query_as_json };

namespace {

IdSource& request_ids() {
  thread_local RandomIds ids;
  return ids;
}

wire::Decoder& thread_decoder() {
  thread_local wire::Decoder decoder;
  return decoder;
}

constexpr std::size_t kReceiveMessage = *AllActions::index_of(ReceiveMessage::kName);
constexpr std::size_t kSendMessage = *AllActions::index_of(SendMessage::kName);
constexpr std::size_t kNoAction = AllActions::kSize;

// Lists whose duration grows with the number of queues: not for I/O threads.
template <class Action>
constexpr bool kLists =
    std::is_same_v<Action, ListQueues> || std::is_same_v<Action, ListDeadLetterSourceQueues>;

std::vector<std::string_view> action_names() {
  const auto& known = AllActions::kNames;
  return {known.begin(), known.end()};
}

front::Refusal refusal_of(const Error& error) {
  const ErrorRow& row = error_row(error.code);
  front::Refusal refusal(row.query_status, row.query_code, error.message);
  refusal.unauthenticated = front::is_unauthenticated(error.code);
  return refusal;
}

// Whether it is /account/name, the path of a queue URL.
bool is_queue_path(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::ranges::count(path, '/') == 2;
}

}  // namespace

// How to write an answer, now or later.
struct Service::Reply {
  Protocol protocol = Protocol::json;
  std::array<char, 36> request_id;
  bool keep_alive = true;

  std::string_view id() const { return {request_id.data(), request_id.size()}; }

  std::size_t begin(std::string& out, int status, std::string_view query_error,
                    bool as_xml = false) const {
    const std::array<http::Header, 2> headers = {
        http::Header{"x-amzn-RequestId", id()},
        http::Header{"x-amzn-query-error", query_error},
    };
    const auto type = protocol == Protocol::json                       ? kJsonContentType
                      : protocol == Protocol::query_as_json && !as_xml ? "application/json"
                                                                       : kQueryContentType;
    const std::size_t count = query_error.empty() ? 1 : 2;
    return http::begin_response(out,
                                {.status = status,
                                 .content_type = type,
                                 .headers = std::span(headers).first(count),
                                 .keep_alive = keep_alive});
  }

  template <class Action>
  void success(std::string& out, const typename Action::Output& output) const {
    const std::size_t mark = begin(out, 200, {});
    switch (protocol) {
      case Protocol::json:
        wire::encode_json(out, output);
        break;
      case Protocol::query:
        encode_query_reply<Action>(out, output, id());
        break;
      case Protocol::query_as_json:
        encode_query_reply_as_json<Action>(out, output, id());
        break;
    }
    http::end_response(out, mark);
  }

  // Counts the error, and logs it if operators need to know.
  void tell_of(const Error& error, std::size_t action, std::string_view peer,
               const front::RequestTelemetry& telemetry) const {
    telemetry.actions().count_error(action, error.code);
    front::Refusal how = refusal_of(error);
    if (protocol == Protocol::json) how.status = error_row(error.code).json_status;
    telemetry.tell({.id = id(), .peer = peer, .action = action}, how);
  }

  void failure(std::string& out, const Error& error) const {
    const ErrorRow& row = error_row(error.code);
    if (protocol == Protocol::json) {
      std::string legacy;
      append_query_error_header(legacy, error);
      const std::size_t mark = begin(out, row.json_status, legacy);
      encode_json_error(out, error);
      http::end_response(out, mark);
    } else {
      // A request without an action is answered in XML, whatever it accepts.
      const bool as_xml = protocol == Protocol::query || error.code == ErrorCode::unknown_operation;
      const std::size_t mark = begin(out, row.query_status, {}, as_xml);
      as_xml ? encode_query_error(out, error, id()) : encode_query_error_as_json(out, error, id());
      http::end_response(out, mark);
    }
  }
};

struct Service::Request {
  http::Exchange& exchange;
  const http::Request& http;
  Call call;
  Reply reply;
  const front::RequestTelemetry& telemetry;
  std::size_t action = kNoAction;

  void take_over(front::Caller&& caller) {
    static_cast<front::Caller&>(call) = std::move(caller);
    call.peer = http.peer;
    call.host = http.host;
    call.secure = http.secure;
    call.trace = http.header("x-amzn-trace-id");
  }
  // Records latency and errors for this action.
  void measure(std::size_t which) {
    action = which;
    exchange.measure(telemetry.latency(which));
  }
  void fail(const Error& error) {
    reply.tell_of(error, action, http.peer, telemetry);
    reply.failure(exchange.out(), error);
    // The error may depend on records that are not durable yet.
    exchange.reply(std::max(call.after, call.engine.appended()));
  }
};

Service::Service(engine::Engine& engine, const front::Gate& gate, ServiceOptions options,
                 Hooks hooks)
    : engine_(engine),
      gate_(gate),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      telemetry_(std::move(hooks_.observers), "sqs", action_names()) {
  secret_ = engine_.turn([](engine::Turn& turn) { return turn.state().secret(); });
}

// Health checks and the start page.
bool Service::serve_page(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const bool reading = request.method == "GET" || request.method == "HEAD";
  int status = 200;
  std::string body;
  if (reading && request.path == "/health") {
    body = R"({"status":"ok"})";
  } else if (reading && request.path == "/ready") {
    const std::string_view disk = hooks_.disk ? hooks_.disk() : "ok";
    const bool ready = (!hooks_.ready || hooks_.ready()) && disk != "full";
    status = ready ? 200 : 503;
    body = ready ? R"({"status":"ready")" : R"({"status":"not ready")";
    if (disk != "ok") body.append(R"(,"disk":")").append(disk).append("\"");
    body += '}';
  } else if (reading && request.path == "/" && request.query.empty()) {
    body =
        R"({"service":"redrive","speaks":"Amazon SQS, API version 2012-11-05","health":"/health","ready":"/ready"})";
  } else if (request.method == "OPTIONS") {
    status = 204;
  } else {
    return false;
  }
  const std::array<http::Header, 1> allow = {http::Header{"Allow", "GET, HEAD, OPTIONS, POST"}};
  const std::size_t mark =
      http::begin_response(exchange.out(),
                           {.status = status,
                            .content_type = status == 204 ? "" : "application/json",
                            .headers = std::span(allow).first(status == 204 ? 1 : 0),
                            .keep_alive = request.keep_alive});
  exchange.out() += body;
  http::end_response(exchange.out(), mark);
  exchange.reply(0);
  return true;
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const std::string_view target = request.header("x-amz-target");
  const bool json =
      !target.empty() || request.header("content-type").starts_with("application/x-amz-json-1.");
  if (!json && serve_page(exchange)) return;

  Request work{exchange, request, Call(engine_, options_), {}, telemetry_};
  work.measure(kNoAction);
  request_ids().uuid().format(work.reply.request_id.data());
  work.reply.keep_alive = request.keep_alive;
  work.reply.protocol = Protocol::query;
  if (json) {
    work.reply.protocol = Protocol::json;
  } else if (request.header("accept") == "application/json") {
    work.reply.protocol = Protocol::query_as_json;
  }

  auto caller = gate_.admit(request, front::Gate::Api::sqs);
  if (!caller) return work.fail(caller.error());
  work.take_over(std::move(*caller));
  json ? serve_json(work) : serve_query(work);
}

void Service::serve_json(Request& request) {
  const std::string_view target = request.http.header("x-amz-target");
  const std::size_t dot = target.rfind('.');
  if (dot == std::string_view::npos) {
    return request.fail({ErrorCode::unknown_operation,
                         "The request names no operation: the header X-Amz-Target is missing."});
  }
  const std::string_view name = target.substr(dot + 1);
  if (target.substr(0, dot) != "AmazonSQS" || !AllActions::index_of(name)) {
    return request.fail(
        {ErrorCode::unknown_operation, fmt::format("The operation {} is not known.", target)});
  }
  run_action(request, name);
}

void Service::serve_query(Request& request) {
  const auto named =
      wire::find_query_parameter(thread_decoder(), request.http.query, request.http.body, "Action");
  if (!named) {
    return request.fail({ErrorCode::unknown_operation, "The request names no action."});
  }
  const std::string name(*named);
  const bool queue_path = is_queue_path(request.http.path);
  const bool elsewhere = queue_path && (name == "CreateQueue" || name == "ListQueues");
  if (elsewhere || !AllActions::index_of(name)) {
    return request.fail({ErrorCode::invalid_action,
                         fmt::format("The action {} is not valid for this endpoint.", name)});
  }
  if (queue_path) request.call.path = request.http.path;
  run_action(request, name);
}

template <class Action>
void Service::audit(Request& request, const typename Action::Input& input, const Error* error) {
  if constexpr (kAudited<Action>) {
    if (!telemetry_.audits()) return;
    // If the request failed before it named a queue, the entry has no resource.
    std::string arn;
    (void)for_each_target<Action>(
        request.call, input, [&](std::string_view, const queue::QueueIdentity& queue) {
          if (arn.empty()) arn = queue.arn();
          return Result<void>();
        });
    std::string json;
    wire::encode_json(json, input);
    std::optional<front::Refusal> refused;
    if (error != nullptr) refused.emplace(refusal_of(*error));
    telemetry_.audit(
        {.id = request.reply.id(), .peer = request.call.peer, .action = request.action},
        request.call,
        {.resource = arn, .refused = refused ? &*refused : nullptr, .request_json = json},
        gate_.wall());
  }
}

// Answers an authenticated request on the offload pool.
template <class Action>
void Service::offload(Request& request) {
  const bool by_path = !request.call.path.empty();
  const auto handle = [this,
                       by_path,
                       caller = static_cast<const front::Caller&>(request.call),
                       reply = request.reply,
                       action = request.action](http::Exchange& exchange) {
    Request again{exchange, exchange.request(), Call(engine_, options_), reply, telemetry_};
    again.measure(action);
    again.take_over(front::Caller(caller));
    if (by_path) again.call.path = again.http.path;
    answer<Action>(*this, again);
  };
  if (hooks_.offload(request.exchange, handle)) return;
  request.fail({ErrorCode::service_unavailable, "The server is busy. Please try again."});
}

template <class Action>
void Service::answer(Service& service, Request& request) {
  if constexpr (kLists<Action>) {
    if (service.hooks_.offload && request.exchange.on_io_thread()) {
      return service.offload<Action>(request);
    }
  }
  typename Action::Input input;
  const auto decoded =
      request.reply.protocol == Protocol::json
          ? wire::decode_json(thread_decoder(), request.http.padded_body(), input)
          : wire::decode_query(thread_decoder(), request.http.query, request.http.body, input);
  if constexpr (names_queue<typename Action::Input>) {
    // A missing queue is reported before other missing parameters.
    const bool nameless = input.queue_url.empty() && request.call.path.empty();
    if (nameless && (decoded || decoded.error().code == ErrorCode::missing_parameter)) {
      return request.fail(
          {ErrorCode::missing_parameter, "The request must contain the parameter QueueUrl."});
    }
  }
  if (!decoded) return request.fail(decoded.error());
  if (const auto allowed = authorize_request<Action>(request.call, input); !allowed) {
    service.audit<Action>(request, input, &allowed.error());
    return request.fail(allowed.error());
  }
  if constexpr (std::is_same_v<Action, ReceiveMessage>) {
    request.call.agent = request.http.header("user-agent");
    auto plan = plan_receive(request.call, input);
    if (!plan) return request.fail(plan.error());
    service.wait_for_messages(request, std::move(*plan));
  } else if constexpr (std::is_same_v<Action, SendMessage>) {
    service.send(request, input);
  } else {
    const auto output = run(request.call, input);
    // The answer may depend on everything recorded so far: it is sent when that is durable.
    request.call.after = std::max(request.call.after, service.engine_.appended());
    service.audit<Action>(request, input, output ? nullptr : &output.error());
    if (!output) return request.fail(output.error());
    request.reply.template success<Action>(request.exchange.out(), *output);
    request.exchange.reply(request.call.after);
  }
}

// Sends of this thread that go to the engine together.
struct Service::Gathering {
  struct Asker {
    http::ReplyToken ticket;
    Reply reply;
    std::string peer;
  };
  GatheredSends sends;
  std::vector<Asker> askers;
};

// Two, because an answer can lead to the next request, which belongs to the next group.
struct Service::Gatherings {
  std::array<Gathering, 2> both;
  unsigned current = 0;
};

Service::Gatherings& Service::gatherings() {
  thread_local Gatherings gatherings;
  return gatherings;
}

void Service::send(Request& request, const SendMessageInput& input) {
  auto plan = plan_send(request.call, input);
  if (!plan) return request.fail(plan.error());
  Gathering& gathered = gatherings().both[gatherings().current];
  if (gathered.sends.take(request.call, input, *plan)) {
    const http::ReplyToken ticket = request.exchange.gather();
    gathered.askers.push_back({ticket, request.reply, std::string(request.http.peer)});
    return;
  }
  const auto output = send_planned(request.call, input, *plan);
  request.call.after = engine_.appended();
  if (!output) return request.fail(output.error());
  request.reply.success<SendMessage>(request.exchange.out(), *output);
  request.exchange.reply(request.call.after);
}

void Service::send_gathered() {
  Gathering& gathered = gatherings().both[gatherings().current];
  gatherings().current ^= 1;
  gathered.sends.send(engine_);
  const engine::Sequence after = engine_.appended();
  for (std::size_t i = 0; i < gathered.askers.size(); ++i) {
    const Gathering::Asker& asker = gathered.askers[i];
    const auto& result = gathered.sends.result(i);
    server_->answer(asker.ticket, [&](std::string* out) -> http::SyncPoint {
      if (out == nullptr) return 0;
      if (result) {
        asker.reply.success<SendMessage>(*out, *result);
      } else {
        asker.reply.tell_of(result.error(), kSendMessage, asker.peer, telemetry_);
        asker.reply.failure(*out, result.error());
      }
      return after;
    });
  }
  gathered.sends.clear();
  gathered.askers.clear();
}

void Service::run_action(Request& request, std::string_view name) {
  using Answer = void (*)(Service&, Request&);
  static constexpr auto kAnswers =
      AllActions::table<Answer>([]<class Action>() -> Answer { return &Service::answer<Action>; });
  const std::size_t action = *AllActions::index_of(name);
  request.measure(action);
  kAnswers[action](*this, request);
}

void Service::write_received(std::string& out, const Reply& reply,
                             const engine::ReceiveOutcome& outcome, const ReceivePlan& plan) {
  if (hooks_.received) hooks_.received(plan.queue, outcome);
  const ReceivedBatch batch(engine_, outcome, plan.view, secret_);
  for (const std::string& fault : batch.faults()) {
    if (hooks_.log) hooks_.log(fault);
  }
  reply.success<ReceiveMessage>(out, batch.output());
}

void Service::wait_for_messages(Request& request, ReceivePlan plan) {
  auto start = engine_.receive(plan.queue, plan.request, plan.wait, {});
  if (start.answer) {
    if (!*start.answer) return request.fail(start.answer->error());
    const engine::ReceiveOutcome& outcome = **start.answer;
    write_received(request.exchange.out(), request.reply, outcome, plan);
    request.exchange.reply(outcome.after);
    return;
  }

  if (waiting_.load() >= options_.waiting_receives_max) {
    return request.fail({ErrorCode::request_throttled,
                         fmt::format("The limit of {} waiting receives is reached.",
                                     options_.waiting_receives_max)});
  }
  struct Wait {
    Wait(std::atomic<std::size_t>& the_count, const Reply& the_reply, ReceivePlan the_plan)
        : count(the_count), reply(the_reply), plan(std::move(the_plan)) {
      ++count;
    }
    ~Wait() { --count; }

    std::atomic<std::size_t>& count;
    Reply reply;
    ReceivePlan plan;
    std::string peer;
    engine::WaitId id = 0;
    http::ReplyToken ticket;
  };
  const auto wait = std::make_shared<Wait>(waiting_, request.reply, std::move(plan));
  wait->peer = request.http.peer;
  wait->ticket = request.exchange.defer([this, wait] { engine_.cancel(wait->id); });
  const auto done = [this, wait](Result<engine::ReceiveOutcome> result) {
    auto outcome = std::make_shared<Result<engine::ReceiveOutcome>>(std::move(result));
    server_->resume(wait->ticket, [this, wait, outcome](std::string* out) -> http::SyncPoint {
      if (out == nullptr) {
        if (*outcome) give_back(wait->plan.queue, **outcome);
        return 0;
      }
      if (!*outcome) {
        wait->reply.tell_of(outcome->error(), kReceiveMessage, wait->peer, telemetry_);
        wait->reply.failure(*out, outcome->error());
        return engine_.appended();  // The deletion of the queue must be durable first.
      }
      write_received(*out, wait->reply, **outcome, wait->plan);
      return (**outcome).after;
    });
  };
  auto again = engine_.receive(wait->plan.queue, wait->plan.request, wait->plan.wait, done);
  wait->id = again.wait;
  if (again.answer) done(std::move(*again.answer));
}

// The consumer has disconnected before it got its messages: make them visible again.
void Service::give_back(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome) {
  std::vector<std::string> handles;
  for (const auto& message : outcome.messages) handles.push_back(message.handle.seal(secret_));
  std::vector<engine::Engine::VisibilityRequest> requests;
  for (const auto& handle : handles) requests.push_back({handle, std::chrono::seconds(0)});
  const auto results = engine_.change_visibility(queue, requests);
  if (!results && hooks_.log)
    hooks_.log(
        "messages received by a disconnected client stay hidden until their visibility timeout "
        "ends: " +
        results.error().message);
}

}  // namespace redrive::sqs
