#include "cli/client/service.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "net/auth/sigv4.h"

namespace redrive::cli {
namespace {

// A function may run for a quarter of an hour, plus its start.
constexpr std::chrono::milliseconds kFunctionTimeMax{960'000};
constexpr std::string_view kJsonType = "application/x-amz-json-1.0";
constexpr std::array<std::string_view, 6> kThrottling = {"RequestThrottled",
                                                         "ThrottlingException",
                                                         "Throttling",
                                                         "TooManyRequestsException",
                                                         "KmsThrottled",
                                                         "ServiceUnavailable"};

struct ErrorBody {
  std::string code;
  std::string message;
};

// {"__type": "com.amazonaws.sqs#Code", "message": …}, or from the management API {"error": {"code":
// …, "message": …}}; missing parts are empty.
ErrorBody parse_error_body(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(body).get(object) != simdjson::SUCCESS) return {};
  simdjson::dom::object inner;
  if (object["error"].get(inner) == simdjson::SUCCESS) object = inner;
  const auto text = [&](const char* name) {
    std::string_view value;
    const bool found = object[name].get(value) == simdjson::SUCCESS;
    return found ? value : std::string_view();
  };
  const std::string_view type = text("__type").empty() ? text("code") : text("__type");
  const std::string_view message = text("message").empty() ? text("Message") : text("message");
  return {.code = std::string(type.substr(type.find('#') + 1)), .message = std::string(message)};
}

Failure failure_of(const http::ClientResponse& response) {
  ErrorBody error = parse_error_body(response.body);
  if (error.code.empty()) error.code = response.header("x-amzn-ErrorType");
  if (error.code.empty()) error.code = fmt::format("HTTP {}", response.status);
  if (error.message.empty()) error.message = "the server gave no reason";
  const bool throttled = std::ranges::find(kThrottling, error.code) != kThrottling.end();
  const bool busy = response.status >= 500 || response.status == 429 || throttled;
  return {.kind = busy ? Failure::Kind::busy : Failure::Kind::refused,
          .code = std::move(error.code),
          .message = std::move(error.message)};
}

http::ClientRequest make_request(const Endpoint& endpoint, std::string_view action,
                                 std::string body) {
  return {.method = "POST",
          .url = endpoint.request_url(),
          .headers = {{"Host", endpoint.host},
                      {"Content-Type", std::string(kJsonType)},
                      {"X-Amz-Target", fmt::format("AmazonSQS.{}", action)},
                      {"x-amzn-query-mode", "true"}},
          .body = std::move(body),
          .ca_bundle = endpoint.ca_bundle,
          .verify_tls = endpoint.verify_tls};
}

std::string full_path(const Endpoint& endpoint, std::string_view prefix, std::string_view path) {
  std::string_view base = endpoint.path;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}/{}{}", base, prefix, path);
}

// libcurl reports only in words whether the connection was refused.
bool nobody_there(const std::string& reason) {
  constexpr std::array<std::string_view, 3> kWords = {
      "Failed to connect", "Couldn't connect", "refused"};
  return std::ranges::any_of(kWords, [&](auto words) { return reason.find(words) != reason.npos; });
}

Failure no_answer(const Endpoint& endpoint, const Error& error) {
  if (nobody_there(error.message)) {
    return {.kind = Failure::Kind::network,
            .code = "",
            .message = fmt::format("no server at {}; start one with: redrive serve", endpoint.url)};
  }
  return {.kind = Failure::Kind::network, .code = "network", .message = error.message};
}

}  // namespace

void add_signature(http::ClientRequest& request, const Endpoint& endpoint, std::string_view target,
                   std::string_view service, Timestamp now) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  std::vector<auth::HeaderField> headers;
  for (const auto& [name, value] : request.headers) headers.push_back({name, value});
  auto added = auth::sign({.method = request.method,
                           .path = target.substr(0, mark),
                           .query = mark == target.size() ? "" : target.substr(mark + 1),
                           .headers = headers,
                           .body = request.body},
                          *endpoint.credentials,
                          {.region = endpoint.region, .service = std::string(service)},
                          now);
  std::ranges::move(added, std::back_inserter(request.headers));
}

Service::Service(Endpoint endpoint, std::unique_ptr<Transport> transport, const Clock& clock)
    : endpoint_(std::move(endpoint)), transport_(std::move(transport)), clock_(clock) {}

Answer<std::string> Service::post(std::string_view action, std::string body) {
  return TRY(send(make_request(endpoint_, action, std::move(body)), endpoint_.path, "sqs")).body;
}

Answer<std::string> Service::ask_management(std::string_view method, std::string_view path,
                                            std::string body) {
  const std::string target = full_path(endpoint_, "_redrive/v1/", path);
  return TRY(send({.method = std::string(method),
                   .url = endpoint_.url_of(target),
                   .headers = {{"Host", endpoint_.host}, {"Content-Type", "application/json"}},
                   .body = std::move(body),
                   .ca_bundle = endpoint_.ca_bundle,
                   .verify_tls = endpoint_.verify_tls},
                  target,
                  "sqs"))
      .body;
}

Answer<http::ClientResponse> Service::ask_lambda(
    std::string_view method, std::string_view path, std::string body,
    std::vector<std::pair<std::string, std::string>> headers) {
  const std::string target = full_path(endpoint_, "", path);
  headers.insert(headers.begin(), {{"Host", endpoint_.host}, {"Content-Type", "application/json"}});
  return send({.method = std::string(method),
               .url = endpoint_.url_of(target),
               .headers = std::move(headers),
               .body = std::move(body),
               .timeout = kFunctionTimeMax,
               .ca_bundle = endpoint_.ca_bundle,
               .verify_tls = endpoint_.verify_tls},
              target,
              "lambda");
}

Answer<http::ClientResponse> Service::send(http::ClientRequest request, std::string_view path,
                                           std::string_view service) {
  if (endpoint_.credentials) add_signature(request, endpoint_, path, service, clock_.wall());
  auto response = transport_->send(request);
  if (!response) return std::unexpected(no_answer(endpoint_, response.error()));
  if (response->status < 200 || response->status > 299) {
    return std::unexpected(failure_of(*response));
  }
  return *std::move(response);
}

std::unexpected<Failure> unreadable_answer(std::string_view why) {
  return std::unexpected(
      Failure{.kind = Failure::Kind::refused,
              .code = "unreadable response",
              .message = fmt::format("the server does not seem to support the SQS API ({})", why)});
}

}  // namespace redrive::cli
