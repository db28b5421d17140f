#include "aws/cloudwatch/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/model/errors.h"
#include "net/auth/credential.h"
#include "net/http/answer.h"
#include "net/wire/encode.h"

namespace redrive::cloudwatch {

enum class Form : std::uint8_t { query, json, cbor };

namespace {

constexpr std::string_view kTargetPrefix = "GraniteServiceVersion20100801.";
constexpr std::string_view kRpcPrefix = "/service/GraniteServiceVersion20100801/";
constexpr std::string_view kVersion = "Version=2010-08-01";
constexpr std::string_view kNamespace = "http://monitoring.amazonaws.com/doc/2010-08-01/";

front::Refusal refusal_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_parameter_value:
      return {400, "InvalidParameterValue", error.message};
    case ErrorCode::missing_parameter:
      return {400, "MissingParameter", error.message};
    case ErrorCode::malformed_request:
      return {400, "MalformedInput", error.message};
    case ErrorCode::resource_not_found:
      return {404, "ResourceNotFound", error.message};
    case ErrorCode::over_limit:
      return {400, "LimitExceeded", error.message};
    case ErrorCode::invalid_action:
    case ErrorCode::unknown_operation:
      return {400, "InvalidAction", error.message};
    default:
      const sqs::ErrorRow& row = sqs::error_row(error.code);
      return {row.query_status, row.query_code, error.message};
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

std::string failure_xml(const front::Refusal& refusal, std::string_view id) {
  std::string out =
      fmt::format("<ErrorResponse xmlns=\"{}\"><Error><Type>{}</Type><Code>{}</Code><Message>",
                  kNamespace,
                  refusal.status < 500 ? "Sender" : "Receiver",
                  refusal.code);
  wire::append_xml_text(out, refusal.message);
  fmt::format_to(
      std::back_inserter(out), "</Message></Error><RequestId>{}</RequestId></ErrorResponse>", id);
  return out;
}

std::string failure_json(const front::Refusal& refusal) {
  std::string out;
  Value().set("__type", refusal.code).set("message", refusal.message).write_json(out);
  return out;
}

constexpr std::string_view kXml = "text/xml";
constexpr std::string_view kJson = "application/x-amz-json-1.0";

http::Answer encode_refusal(const front::RequestContext& context, const front::Refusal& refusal) {
  const bool query = form_of(context.request) == Form::query;
  return {.status = refusal.status,
          .content_type = std::string(query ? kXml : kJson),
          .body = query ? failure_xml(refusal, context.id) : failure_json(refusal)};
}

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

front::ApiTraits traits() {
  return {.name = "cloudwatch",
          .scope = front::Gate::Api::monitoring,
          .actions = action_names(),
          .refusal_of = refusal_of,
          .encode = encode_refusal,
          .routes_first = true};
}

// The body of an answer in the form of the request.
std::string encode(const front::RequestContext& context, const Action& action, const Value& value) {
  if (form_of(context.request) == Form::query) return success_xml(action, value, context.id);
  std::string body;
  value.write_json(body);
  return body;
}

Result<Parameters> parameters_of(const http::Request& request) {
  return form_of(request) == Form::json ? Parameters::from_json(request.body)
                                        : Parameters::from_form(request.query, request.body);
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

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      pipeline_(*this, traits(),
                {.gate = parts_.gate,
                 .observers = parts_.observers,
                 .offload = parts_.offload,
                 .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

front::Outcome<void> Service::route(front::RequestContext& context) const {
  const Form form = form_of(context.request);
  if (form == Form::cbor) {
    return front::refuse(415,
                         "UnsupportedProtocol",
                         "CBOR is not spoken here: use AWS JSON 1.0 or the Query protocol.");
  }
  // A target of another service is the name of no action here.
  std::string_view target = context.request.header("x-amz-target");
  if (target.starts_with(kTargetPrefix)) target.remove_prefix(kTargetPrefix.size());
  const std::string name =
      form == Form::json ? std::string(target) : TRY(parameters_of(context.request)).text("Action");
  const auto action = std::ranges::find(actions(), name, &Action::name);
  if (action == actions().end()) {
    return fail(ErrorCode::invalid_action,
                fmt::format("The action {} is not supported.", name.substr(0, 64)));
  }
  context.action = static_cast<std::size_t>(action - actions().begin());
  return {};
}

front::Outcome<http::Answer> Service::run(front::RequestContext& context,
                                          const front::Respond&) const {
  const Action& action = actions()[context.action];
  const Parameters parameters = TRY(parameters_of(context.request));
  // The request itself stays out of the audit log: addresses of webhooks are secrets.
  if (action.right != auth::Right::look) context.audit = {.resource = resource_of(parameters)};
  const std::string name = fmt::format("cloudwatch:{}", action.name);
  const front::Operation operation{.name = name, .right = action.right};
  RETURN_IF_ERROR(front::authorize_role(context.caller, operation));
  const Duration ahead =
      parts_.engine.turn([](engine::Turn& turn) { return turn.stamp().wall - turn.stamp().now; });
  Call call{parts_, parameters, context.caller, operation, ahead};
  const Value value = TRY(action.run(call));
  const bool query = form_of(context.request) == Form::query;
  return http::Answer{.content_type = std::string(query ? kXml : kJson),
                      .body = encode(context, action, value)};
}

}  // namespace redrive::cloudwatch
