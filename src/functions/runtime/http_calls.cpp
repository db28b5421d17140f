#include "functions/runtime/http_calls.h"

#include <fmt/format.h>

#include <thread>

#include "net/http/client.h"

namespace redrive::runtime {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::size_t kReasonBytesMax = 1'000;
constexpr std::chrono::seconds kThreadIdleMax{30};
constexpr std::chrono::milliseconds kClockSlack{5};

http::ClientRequest request_of(const FunctionSpec& function, const Invocation& what,
                               const http::OutgoingPolicyPtr& outgoing) {
  const auto deadline = std::chrono::system_clock::now().time_since_epoch() + function.timeout;
  http::ClientRequest request{
      .url = function.url,
      .headers = {{"Content-Type", "application/json"},
                  {"Lambda-Runtime-Aws-Request-Id", what.request_id},
                  {"Lambda-Runtime-Invoked-Function-Arn", function.arn},
                  {"Lambda-Runtime-Deadline-Ms",
                   fmt::to_string(duration_cast<std::chrono::milliseconds>(deadline).count())}},
      .body = what.payload.as_json().text(),
      .timeout = function.timeout,
      .outgoing = outgoing};
  if (!what.trace.empty()) request.headers.emplace_back("X-Amzn-Trace-Id", what.trace);
  return request;
}

Outcome outcome_of_answer(http::ClientResponse response) {
  const bool good = response.status >= 200 && response.status < 300;
  if (response.body.size() > kPayloadBytesMax) return failed_with(response_too_large_error());
  if (good) {
    if (response.body.empty()) return {.payload = "null"};
    const bool json = is_json(response.body);
    return {.payload = json ? std::move(response.body) : json_text(response.body)};
  }
  const std::string type = fmt::format("Http.Status{}", response.status);
  const bool document = response.body.find("\"errorType\"") != std::string::npos;
  if (document && is_json(response.body)) return failed_with_document(response.body, type);
  const std::string_view reason = std::string_view(response.body).substr(0, kReasonBytesMax);
  return failed_with(
      {.type = type,
       .message =
           fmt::format("HTTP status {}{}{}", response.status, reason.empty() ? "" : ": ", reason)});
}

Outcome call_endpoint(http::Client& client, const http::ClientRequest& request,
                      const FunctionSpec& function, const Invocation& what) {
  const auto begin = steady_clock::now();
  auto answer = client.send(request);
  const auto duration = duration_cast<microseconds>(steady_clock::now() - begin);
  Outcome outcome;
  if (answer) {
    outcome = outcome_of_answer(std::move(*answer));
  } else if (duration + kClockSlack >= function.timeout) {
    outcome = failed_with(timeout_error(what.request_id, function.timeout));
  } else {
    outcome = failed_with({.type = "Http.ConnectionError", .message = answer.error().message});
  }
  outcome.duration = duration;
  return outcome;
}

}  // namespace

HttpCalls::~HttpCalls() {
  {
    const MutexLock lock(state_->mutex);
    state_->over = true;
    state_->calls.clear();
  }
  state_->asked.notify_all();
}

void HttpCalls::start(std::shared_ptr<const FunctionSpec> function, Invocation what, Ended ended) {
  bool enough = false;
  {
    const MutexLock lock(state_->mutex);
    state_->calls.push_back({std::move(function), std::move(what), std::move(ended)});
    enough = state_->idle >= state_->calls.size();
  }
  state_->asked.notify_one();
  if (!enough) std::thread([state = state_] { work(state); }).detach();
}

void HttpCalls::work(const std::shared_ptr<State>& state) {
  http::Client client;
  UniqueMutexLock lock(state->mutex);
  while (true) {
    ++state->idle;
    const bool woken =
        state->asked.wait_for(state->mutex, kThreadIdleMax, [&]() REQUIRES(state->mutex) {
          return state->over || !state->calls.empty();
        });
    --state->idle;
    if (!woken || state->over) return;
    const Call call = std::move(state->calls.front());
    state->calls.pop_front();
    lock.unlock();
    Outcome outcome = call_endpoint(
        client, request_of(*call.function, call.what, state->outgoing), *call.function, call.what);
    lock.lock();
    // Under the lock, so that the receiver still exists.
    if (!state->over) call.ended(std::move(outcome));
  }
}

}  // namespace redrive::runtime
