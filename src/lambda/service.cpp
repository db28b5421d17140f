#include "lambda/service.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "auth/credential.h"
#include "base/calendar.h"
#include "base/ids.h"
#include "base/result.h"
#include "lambda/routes.h"

namespace redrive::lambda {
namespace {

constexpr unsigned kServiceThreads = 2;
// Requests that wait for a thread: beyond these a client is told to come again.
constexpr std::size_t kWaitingRequestsMax = 1000;
constexpr std::size_t kWaitingRequestBytesMax = 256u << 20;

std::string new_invocation_id() {
  thread_local RandomIds ids;
  return ids.uuid().text();
}

void write_answer(std::string& out, const Answer& answer, bool keep_alive,
                  std::string_view request_id) {
  std::vector<http::Header> headers = {{"x-amzn-RequestId", request_id}};
  for (const auto& [name, value] : answer.headers) headers.push_back({name, value});
  const std::size_t mark = http::begin_response(out,
                                                {.status = answer.status,
                                                 .content_type = answer.content_type,
                                                 .headers = headers,
                                                 .keep_alive = keep_alive});
  out += answer.body;
  http::end_response(out, mark);
}

// {"error": {"code": ..., "message": ...}}, as the rest of the management API has it.
struct ManagementError {
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(ManagementError*) {
  return wire::shape(wire::required("code", &ManagementError::code),
                     wire::required("message", &ManagementError::message));
}
struct ManagementRefusal {
  ManagementError error;
};
consteval auto shape_of(ManagementRefusal*) {
  return wire::shape(wire::required("error", &ManagementRefusal::error));
}

Answer answer_for(const http::Request& request, const Refusal& refusal) {
  if (!request.path.starts_with(kManagementPrefix)) return answer_of(refusal);
  return json_answer(refusal.status, ManagementRefusal{{refusal.code, refusal.message}});
}

struct AuditLine {
  std::string_view time;
  std::string_view who;
  std::string_view key;
  std::string_view account;
  std::string_view action;
  std::string_view resource;
  std::string_view outcome;
  std::string_view error;
};
consteval auto shape_of(AuditLine*) {
  using Out = AuditLine;
  return wire::shape(wire::required("time", &Out::time),
                     wire::required("who", &Out::who),
                     wire::optional("key", &Out::key),
                     wire::required("account", &Out::account),
                     wire::required("action", &Out::action),
                     wire::required("resource", &Out::resource),
                     wire::required("outcome", &Out::outcome),
                     wire::optional("error", &Out::error));
}

// Who did what. The request itself stays out of it: it has code and environments, and in those
// secrets.
std::string audit_line(const Call& call, const Route& route, const Refusal* refusal) {
  const std::string time = format_utc(call.parts.gate.wall());
  const std::string action = fmt::format("lambda:{}", route.operation);
  const auth::AccessKey* const key = call.caller.key;
  std::string out;
  wire::encode_json(out,
                    AuditLine{.time = time,
                              .who = key != nullptr ? key->name : call.caller.sender_id,
                              .key = key != nullptr ? std::string_view(key->id) : "",
                              .account = call.caller.account,
                              .action = action,
                              .resource = call.request.path,
                              .outcome = refusal == nullptr ? "done" : refusal->code,
                              .error = refusal == nullptr ? "" : refusal->message});
  return out;
}

}  // namespace

bool is_lambda_request(const http::Request& request) {
  if (!is_lambda_path(request.path)) return false;
  // A bucket may have such a name.
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return !scope || scope->service != "s3";
}

// The way to the server, until it is shut.
class Service::Door {
 public:
  void open(http::Server* server) {
    const std::lock_guard lock(mutex_);
    server_ = server;
  }
  void resume(http::Ticket ticket, std::function<http::Mark(std::string*)> write) {
    const std::lock_guard lock(mutex_);
    if (server_ != nullptr) server_->resume(ticket, std::move(write));
  }

 private:
  std::mutex mutex_;
  http::Server* server_ = nullptr;  // Guarded by mutex_.
};

// A request that no longer depends on its connection.
struct Service::Job {
  explicit Job(const http::Request& original) : request(original), id(new_invocation_id()) {
    for (http::Header& header : request.headers) {
      header = {.name = keep(header.name), .value = keep(header.value)};
    }
    request.method = keep(original.method);
    request.target = keep(original.target);
    request.path = keep(original.path);
    request.query = keep(original.query);
    request.host = keep(original.host);
    request.peer = keep(original.peer);
    request.body = keep(original.body);
  }
  // With room behind it for a parser that reads ahead.
  std::string_view keep(std::string_view text) {
    std::string& kept = texts.emplace_back();
    kept.reserve(text.size() + http::kBodyPadding);
    kept.append(text);
    kept.resize(text.size() + http::kBodyPadding);
    return std::string_view(kept).substr(0, text.size());
  }

  http::Request request;
  std::deque<std::string> texts;  // What the views of `request` point into.
  std::string id;
  http::Ticket ticket;
};

Service::Service(Parts parts) : parts_(std::move(parts)), door_(std::make_shared<Door>()) {
  for (unsigned i = 0; i < kServiceThreads; ++i) threads_.emplace_back([this] { work(); });
}

Service::~Service() {
  stop();
}

void Service::attach(http::Server& server) {
  door_->open(&server);
}

void Service::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();
  door_->open(nullptr);
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  {
    const std::lock_guard lock(mutex_);
    const bool room = !stopping_ && waiting_.size() < kWaitingRequestsMax &&
                      waiting_bytes_ + request.body.size() <= kWaitingRequestBytesMax;
    if (room) {
      auto job = std::make_shared<Job>(request);
      job->ticket = exchange.defer([] {});
      waiting_bytes_ += job->request.body.size();
      waiting_.push_back(std::move(job));
      changed_.notify_one();
      return;
    }
  }
  const Refusal refusal{503, "ServiceException", "The server is busy. Please try again."};
  write_answer(
      exchange.out(), answer_for(request, refusal), request.keep_alive, new_invocation_id());
  exchange.reply(0);
}

void Service::work() {
  while (true) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= job->request.body.size();
    }
    run(std::move(job));
  }
}

std::function<void(Answer)> Service::responder(const std::shared_ptr<Job>& job) const {
  return [door = door_,
          &engine = parts_.engine,
          ticket = job->ticket,
          id = job->id,
          keep_alive = job->request.keep_alive](Answer given) {
    const auto answer = std::make_shared<const Answer>(std::move(given));
    door->resume(ticket, [=, &engine](std::string* out) -> http::Mark {
      if (out == nullptr) return 0;
      write_answer(*out, *answer, keep_alive, id);
      return engine.appended();
    });
  };
}

void Service::run(std::shared_ptr<Job> job) {
  const auto respond = responder(job);
  Match match = find_route(job->request.method, job->request.path);
  if (match.route == nullptr) {
    const Refusal refusal{
        404,
        "UnknownOperationException",
        fmt::format("There is no {} {} here.", job->request.method, job->request.path)};
    return respond(answer_for(job->request, refusal));
  }
  const bool own = job->request.path.starts_with(kManagementPrefix);
  auto caller = parts_.gate.admit(job->request, own ? "" : "lambda");
  if (!caller) return respond(answer_for(job->request, refusal_of(caller.error())));
  Call call{.parts = parts_,
            .request = job->request,
            .caller = *std::move(caller),
            .parameters = std::move(match.parameters),
            .request_id = job->id,
            .respond = respond};
  const auto answer = serve(*match.route, call);
  if (parts_.audit && match.route->audited()) {
    parts_.audit(audit_line(call, *match.route, answer ? nullptr : &answer.error()));
  }
  if (!answer) return respond(answer_for(job->request, answer.error()));
  if (!call.later) respond(*answer);
}

Outcome<Answer> Service::serve(const Route& route, Call& call) const {
  const auth::AccessKey* const key = call.caller.key;
  if (key != nullptr && !auth::has_right(key->role, route.right)) {
    return refuse(403,
                  "AccessDeniedException",
                  fmt::format("User: {} is not authorized to perform: lambda:{}: the role {} does "
                              "not allow it",
                              key->arn(),
                              route.operation,
                              auth::role_name(key->role)));
  }
  return route.run(call);
}

}  // namespace redrive::lambda
