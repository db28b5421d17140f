#include "s3/service.h"

#include <fmt/format.h>

#include <utility>

#include "base/calendar.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/text.h"
#include "s3/address.h"
#include "s3/call.h"
#include "s3/routes.h"
#include "wire/encode.h"
#include "wire/shape.h"

namespace redrive::s3 {
namespace {

struct AuditedWrite {
  std::string_view time;
  std::string_view who;
  std::string_view key;
  std::string_view account;
  std::string_view from;
  std::string_view action;
  std::string_view bucket;
  std::string_view object;
  std::string_view outcome;
  std::string_view error;
  std::string_view request_id;
};
consteval auto shape_of(AuditedWrite*) {
  using Out = AuditedWrite;
  return wire::shape(wire::required("time", &Out::time),
                     wire::required("who", &Out::who),
                     wire::optional("key", &Out::key),
                     wire::required("account", &Out::account),
                     wire::required("from", &Out::from),
                     wire::required("action", &Out::action),
                     wire::optional("bucket", &Out::bucket),
                     wire::optional("object", &Out::object),
                     wire::required("outcome", &Out::outcome),
                     wire::optional("error", &Out::error),
                     wire::required("requestId", &Out::request_id));
}

// They mostly wait for the disk, and those who wait together share its syncs.
constexpr unsigned kThreads = 8;
// Requests that wait for a thread: beyond these a client is told to come again.
constexpr std::size_t kWaitingMax = 1000;
constexpr std::size_t kWaitingBytesMax = 256u << 20;

std::string new_request_id() {
  thread_local RandomIds ids;
  return ids.uuid().text();
}

void write(std::string& out, const Answer& answer, bool keep_alive, std::string_view request_id) {
  std::vector<http::Header> headers = {{"x-amz-request-id", request_id}};
  for (const auto& [name, value] : answer.headers) headers.push_back({name, value});
  const std::size_t mark = http::begin_response(out,
                                                {.status = answer.status,
                                                 .content_type = answer.content_type,
                                                 .headers = headers,
                                                 .keep_alive = keep_alive});
  if (!answer.length) {
    out += answer.body;
    return http::end_response(out, mark);
  }
  // The place for the length, as begin_response left it; nothing follows the head of a HEAD.
  const std::size_t end = out.find('\r', mark);
  out.replace(mark, end - mark, std::to_string(*answer.length));
}

Answer answer_of(const Refusal& refusal, std::string_view bucket, std::string_view key,
                 std::string_view request_id) {
  return {.status = refusal.status,
          .content_type = "application/xml",
          .headers = refusal.headers,
          .body = error_document(refusal, bucket, key, request_id)};
}

}  // namespace

// A request that no longer depends on its connection.
struct Service::Job {
  explicit Job(const http::Request& original) : request(original), id(new_request_id()) {
    for (const auto& header : original.headers) {
      texts.emplace_back(header.name);
      texts.emplace_back(header.value);
    }
    for (std::size_t i = 0; i < request.headers.size(); ++i) {
      request.headers[i] = {.name = texts[2 * i], .value = texts[2 * i + 1]};
    }
    request.method = keep(original.method);
    request.target = keep(original.target);
    request.path = keep(original.path);
    request.query = keep(original.query);
    request.host = keep(original.host);
    request.peer = keep(original.peer);
    request.body = keep(original.body);
  }
  std::string_view keep(std::string_view text) { return texts.emplace_back(text); }

  http::Request request;
  std::deque<std::string> texts;  // What the views of `request` point into.
  std::string id;
  http::Ticket ticket;
};

Service::Service(Parts parts) : parts_(std::move(parts)) {
  for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
}

Service::~Service() {
  stop();
}

void Service::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  {
    std::lock_guard lock(mutex_);
    const bool room = !stopping_ && waiting_.size() < kWaitingMax &&
                      waiting_bytes_ + request.body.size() <= kWaitingBytesMax;
    if (room) {
      auto job = std::make_unique<Job>(request);
      job->ticket = exchange.defer([] {});
      waiting_bytes_ += job->request.body.size();
      waiting_.push_back(std::move(job));
      changed_.notify_one();
      return;
    }
  }
  const std::string id = new_request_id();
  const Refusal refusal{503, "SlowDown", "Please reduce your request rate."};
  write(exchange.out(), answer_of(refusal, {}, {}, id), request.keep_alive, id);
  exchange.reply(0);
}

void Service::work() {
  while (true) {
    std::unique_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= job->request.body.size();
    }
    const auto answer = std::make_shared<const Answer>(run(*job));
    server_->resume(job->ticket,
                    [answer, id = job->id, keep_alive = job->request.keep_alive](
                        std::string* out) -> http::Mark {
                      if (out != nullptr) write(*out, *answer, keep_alive, id);
                      return 0;
                    });
  }
}

Answer Service::run(Job& job) const {
  std::string bucket;
  std::string key;
  auto answer = serve(job, bucket, key);
  if (answer) return *std::move(answer);
  return answer_of(answer.error(), bucket, key, job.id);
}

Outcome<Answer> Service::serve(const Job& job, std::string& bucket, std::string& key) const {
  const http::Request& request = job.request;
  auto caller = parts_.gate.admit(request, "s3");
  if (!caller) return std::unexpected(refusal_of(caller.error()));
  const auto is_bucket = [&](const std::string& name) {
    return parts_.store.bucket(name).has_value();
  };
  Call call{.store = parts_.store,
            .uploads = parts_.uploads,
            .request = request,
            .caller = *std::move(caller),
            .address = address_of(
                request.host, request.path, {.domains = parts_.domains, .is_bucket = is_bucket}),
            .parameters = parse_parameters(request.query),
            .now = parts_.gate.wall()};
  bucket = call.address.bucket;
  key = call.address.key;
  const S3Route route = TRY(find_s3_route(call));
  CHECK(call.may_touch(bucket));
  const auth::AccessKey* const access = call.caller.key;
  if (access != nullptr && !auth::has_right(access->role, route.right)) {
    return refuse(403,
                  "AccessDenied",
                  fmt::format("User: {} is not authorized to {} {}: the role {} does not allow it",
                              access->arn(),
                              request.method,
                              request.path,
                              auth::role_name(access->role)));
  }
  auto answer = route.run(call);
  if (parts_.audit && route.right != auth::Right::look) write_down(call, job.id, answer);
  return answer;
}

// Who changed what, like the lines of the SQS actions; contents are nobody's business.
void Service::write_down(const Call& call, std::string_view request_id,
                         const Outcome<Answer>& answer) const {
  const std::string time = format_utc(call.now);
  const std::string action = fmt::format("S3 {} {}", call.request.method, call.request.target);
  std::string line;
  wire::encode_json(
      line,
      AuditedWrite{.time = time,
                   .who = call.caller.sender_id,
                   .key = call.caller.key == nullptr ? std::string_view() : call.caller.key->id,
                   .account = call.caller.account,
                   .from = call.request.peer,
                   .action = action,
                   .bucket = call.address.bucket,
                   .object = call.address.key,
                   .outcome = answer ? std::string_view("done") : answer.error().code,
                   .error = answer ? std::string_view() : answer.error().message,
                   .request_id = request_id});
  parts_.audit(std::move(line));
}

}  // namespace redrive::s3
