#include "cloudwatch/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "auth/credential.h"
#include "http/answer.h"
#include "sqs/errors.h"
#include "wire/encode.h"

namespace redrive::cloudwatch {

enum class Form : std::uint8_t { query, json, cbor };

namespace {

constexpr std::string_view kTargetPrefix = "GraniteServiceVersion20100801.";
constexpr std::string_view kRpcPrefix = "/service/GraniteServiceVersion20100801/";
constexpr std::string_view kVersion = "Version=2010-08-01";
constexpr std::string_view kNamespace = "http://monitoring.amazonaws.com/doc/2010-08-01/";

struct CloudError {
  int status;
  std::string_view code;
};

CloudError error_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_parameter_value:
      return {400, "InvalidParameterValue"};
    case ErrorCode::missing_parameter:
      return {400, "MissingParameter"};
    case ErrorCode::malformed_request:
      return {400, "MalformedInput"};
    case ErrorCode::resource_not_found:
      return {404, "ResourceNotFound"};
    case ErrorCode::over_limit:
      return {400, "LimitExceeded"};
    case ErrorCode::invalid_action:
    case ErrorCode::unknown_operation:
      return {400, "InvalidAction"};
    default:
      const sqs::ErrorRow& row = sqs::error_row(code);
      return {row.query_status, row.query_code};
  }
}

Form form_of(const http::Request& request) {
  if (request.path.starts_with(kRpcPrefix) || !request.header("smithy-protocol").empty()) {
    return Form::cbor;
  }
  return request.header("x-amz-target").empty() ? Form::query : Form::json;
}

std::string success_xml(const Action& action, const Value& value, std::string_view id) {
  std::string out = fmt::format("<{}Response xmlns=\"{}\">", action.name, kNamespace);
  if (action.has_result) {
    fmt::format_to(std::back_inserter(out), "<{}Result>", action.name);
    value.write_xml(out);
    fmt::format_to(std::back_inserter(out), "</{}Result>", action.name);
  }
  fmt::format_to(std::back_inserter(out),
                 "<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{}Response>",
                 id,
                 action.name);
  return out;
}

std::string failure_xml(const CloudError& shown, const Error& error, std::string_view id) {
  std::string out =
      fmt::format("<ErrorResponse xmlns=\"{}\"><Error><Type>{}</Type><Code>{}</Code><Message>",
                  kNamespace,
                  shown.status < 500 ? "Sender" : "Receiver",
                  shown.code);
  wire::append_xml_text(out, error.message);
  fmt::format_to(
      std::back_inserter(out), "</Message></Error><RequestId>{}</RequestId></ErrorResponse>", id);
  return out;
}

std::string failure_json(const CloudError& shown, const Error& error) {
  std::string out;
  Value().set("__type", shown.code).set("message", error.message).write_json(out);
  return out;
}

constexpr std::string_view kXml = "text/xml";
constexpr std::string_view kJson = "application/x-amz-json-1.0";

constexpr std::string_view kNoCbor =
    R"({"__type":"UnsupportedProtocol","message":"CBOR is not spoken here: )"
    R"(use AWS JSON 1.0 or the Query protocol."})";

std::vector<std::string_view> action_names() {
  std::vector<std::string_view> names;
  for (const Action& action : actions()) names.push_back(action.name);
  return names;
}

// What a change is made to: alarms mostly.
std::string resource_of(const Parameters& parameters) {
  for (const char* const name : {"AlarmName", "ResourceARN"}) {
    if (auto found = parameters.find(name)) return *found;
  }
  std::string names;
  for (const std::string& name : parameters.texts("AlarmNames")) {
    names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

}  // namespace

bool names_cloudwatch(const http::Request& request) {
  return request.path.starts_with(kRpcPrefix) ||
         request.header("x-amz-target").starts_with(kTargetPrefix);
}

bool is_cloudwatch_request(const http::Request& request) {
  if (names_cloudwatch(request)) return true;
  const std::string_view authorization = request.header("authorization");
  if (const auto scope = auth::scope_of(authorization, request.query)) {
    return scope->service == "monitoring";
  }
  return request.path == "/" && (request.query.find(kVersion) != std::string_view::npos ||
                                 request.body.find(kVersion) != std::string_view::npos);
}

// A request, and what is found out about it on the way.
struct Service::Asked {
  const http::Request& request;
  Form form;
  std::size_t action;
  std::string id = api::new_request_id();
  bool unproven = false;

  api::RequestMark mark() const { return {.id = id, .peer = request.peer, .action = action}; }
  http::Answer answer(const Result<std::string>& body) const {
    const std::string type(form == Form::query ? kXml : kJson);
    if (body) return {.content_type = type, .body = *body};
    const CloudError shown = error_of(body.error().code);
    return {.status = shown.status,
            .content_type = type,
            .body = form == Form::json ? failure_json(shown, body.error())
                                       : failure_xml(shown, body.error(), id)};
  }
};

Service::Service(Parts parts)
    : parts_(std::move(parts)), witness_(parts_.observers, "cloudwatch", action_names()) {}

Result<Value> Service::run(const Action& action, const Parameters& parameters, Asked& asked) const {
  const auto admitted = parts_.gate.admit(asked.request, api::Gate::Api::monitoring);
  if (!admitted) {
    asked.unproven = api::is_unproven(admitted.error().code);
    return std::unexpected(admitted.error());
  }
  const api::Caller& caller = *admitted;
  Result<Value> value;
  const std::string name = fmt::format("cloudwatch:{}", action.name);
  const api::Operation operation{.name = name, .right = action.right};
  const auto allowed = api::authorize_role(caller, operation);
  if (!allowed) {
    value = std::unexpected(allowed.error());
  } else {
    const Duration ahead =
        parts_.engine.turn([](engine::Turn& turn) { return turn.stamp().wall - turn.stamp().now; });
    Call call{parts_, parameters, caller, operation, ahead};
    value = action.run(call);
  }
  if (action.right != auth::Right::look) {
    write_down(parameters, asked, caller, value ? nullptr : &value.error());
  }
  return value;
}

void Service::write_down(const Parameters& parameters, const Asked& asked,
                         const api::Caller& caller, const Error* error) const {
  const std::string resource = resource_of(parameters);
  api::Refused refused{};
  if (error != nullptr) {
    const CloudError shown = error_of(error->code);
    refused = {.status = shown.status, .code = shown.code, .message = error->message};
  }
  // The request itself stays out of it: addresses of webhooks are secrets.
  witness_.write_down(asked.mark(),
                      caller,
                      {.resource = resource, .refused = error == nullptr ? nullptr : &refused},
                      parts_.gate.wall());
}

Result<std::string> Service::answer(Asked& asked) const {
  const http::Request& request = asked.request;
  const bool json = asked.form == Form::json;
  const Parameters parameters = TRY(json ? Parameters::from_json(request.body)
                                         : Parameters::from_form(request.query, request.body));
  // A target of another service is the name of no action here.
  std::string_view target = request.header("x-amz-target");
  if (target.starts_with(kTargetPrefix)) target.remove_prefix(kTargetPrefix.size());
  const std::string name = json ? std::string(target) : parameters.text("Action");
  const auto action = std::ranges::find(actions(), name, &Action::name);
  if (action == actions().end()) {
    return fail(ErrorCode::invalid_action,
                fmt::format("The action {} is not known here.", name.substr(0, 64)));
  }
  asked.action = static_cast<std::size_t>(action - actions().begin());
  const Value value = TRY(run(*action, parameters, asked));
  if (!json) return success_xml(*action, value, asked.id);
  std::string body;
  value.write_json(body);
  return body;
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  Asked asked{.request = request, .form = form_of(request), .action = witness_.unknown()};
  http::Answer reply{
      .status = 415, .content_type = std::string(kJson), .body = std::string(kNoCbor)};
  if (asked.form != Form::cbor) {
    return finish(exchange, asked, answer(asked));
  }
  exchange.measure(witness_.latency(asked.action));
  http::append_answer(exchange.out(), reply, {{"x-amzn-RequestId", asked.id}}, request.keep_alive);
  exchange.reply(parts_.engine.appended());
}

void Service::finish(http::Exchange& exchange, const Asked& asked,
                     const Result<std::string>& body) const {
  if (!body) {
    const CloudError shown = error_of(body.error().code);
    witness_.refused(asked.mark(),
                     {.status = shown.status,
                      .code = shown.code,
                      .message = body.error().message,
                      .unproven = asked.unproven});
  }
  exchange.measure(witness_.latency(asked.action));
  http::append_answer(exchange.out(),
                      asked.answer(body),
                      {{"x-amzn-RequestId", asked.id}},
                      asked.request.keep_alive);
  exchange.reply(parts_.engine.appended());
}

void Service::refuse_busy(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  finish(exchange,
         {.request = request, .form = form_of(request), .action = witness_.unknown()},
         fail(ErrorCode::service_unavailable, "The server is busy. Please try again."));
}

}  // namespace redrive::cloudwatch
