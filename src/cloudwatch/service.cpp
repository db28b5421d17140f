#include "cloudwatch/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "auth/credential.h"
#include "base/ids.h"
#include "sqs/errors.h"
#include "wire/encode.h"

namespace redrive::cloudwatch {
namespace {

constexpr std::string_view kTargetPrefix = "GraniteServiceVersion20100801.";
constexpr std::string_view kRpcPrefix = "/service/GraniteServiceVersion20100801/";
constexpr std::string_view kVersion = "Version=2010-08-01";
constexpr std::string_view kNamespace = "http://monitoring.amazonaws.com/doc/2010-08-01/";

std::string new_request_id() {
  thread_local RandomIds ids;
  return ids.uuid().text();
}

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

enum class Form : std::uint8_t { query, json, cbor };

Form form_of(const http::Request& request) {
  if (request.path.starts_with(kRpcPrefix) || !request.header("smithy-protocol").empty()) {
    return Form::cbor;
  }
  return request.header("x-amz-target").starts_with(kTargetPrefix) ? Form::json : Form::query;
}

void write_reply(http::Exchange& exchange, int status, std::string_view type,
                 std::string_view request_id, std::string_view body, http::Mark after) {
  const std::array<http::Header, 1> headers = {http::Header{"x-amzn-RequestId", request_id}};
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = status,
                                                 .content_type = type,
                                                 .headers = headers,
                                                 .keep_alive = exchange.request().keep_alive});
  exchange.out() += body;
  http::end_response(exchange.out(), mark);
  exchange.reply(after);
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

void fail_with(http::Exchange& exchange, Form form, const Error& error, http::Mark after) {
  const CloudError shown = error_of(error.code);
  const std::string id = new_request_id();
  const bool json = form == Form::json;
  write_reply(exchange,
              shown.status,
              json ? kJson : kXml,
              id,
              json ? failure_json(shown, error) : failure_xml(shown, error, id),
              after);
}

}  // namespace

bool is_cloudwatch_request(const http::Request& request) {
  if (request.path.starts_with(kRpcPrefix)) return true;
  if (request.header("x-amz-target").starts_with(kTargetPrefix)) return true;
  const std::string_view authorization = request.header("authorization");
  if (const auto scope = auth::scope_of(authorization, request.query)) {
    return scope->service == "monitoring";
  }
  return request.path == "/" && (request.query.find(kVersion) != std::string_view::npos ||
                                 request.body.find(kVersion) != std::string_view::npos);
}

std::vector<std::string_view> measured_actions() {
  std::vector<std::string_view> names;
  for (const Action& action : actions()) names.push_back(action.name);
  names.push_back("unknown");
  return names;
}

Result<Value> Service::run(const Action& action, const http::Request& request,
                           const Parameters& parameters) const {
  const api::Caller caller = TRY(parts_.gate.admit(request, "monitoring"));
  if (caller.key != nullptr && !auth::has_right(caller.key->role, action.right)) {
    return fail(ErrorCode::access_denied,
                fmt::format("User: {} is not authorized to perform: cloudwatch:{}",
                            caller.key->arn(),
                            action.name));
  }
  const Duration ahead =
      parts_.engine.turn([](engine::Turn& turn) { return turn.stamp().wall - turn.stamp().now; });
  Call call{parts_, parameters, caller, ahead};
  return action.run(call);
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const Form form = form_of(request);
  if (form == Form::cbor) {
    return write_reply(exchange,
                       415,
                       kJson,
                       new_request_id(),
                       R"({"__type":"UnsupportedProtocol","message":"CBOR is not spoken here: )"
                       R"(use AWS JSON 1.0 or the Query protocol."})",
                       0);
  }
  const auto parameters = form == Form::json ? Parameters::from_json(request.body)
                                             : Parameters::from_form(request.query, request.body);
  const std::size_t unknown = actions().size();
  if (measured_ != nullptr) exchange.measure(measured_->latency(unknown));
  if (!parameters) return fail_with(exchange, form, parameters.error(), 0);
  const std::string name =
      form == Form::json ? std::string(request.header("x-amz-target").substr(kTargetPrefix.size()))
                         : parameters->text("Action");
  const auto action = std::ranges::find(actions(), name, &Action::name);
  if (action == actions().end()) {
    return fail_with(exchange,
                     form,
                     {ErrorCode::invalid_action,
                      fmt::format("The action {} is not known here.", name.substr(0, 64))},
                     0);
  }
  const auto index = static_cast<std::size_t>(action - actions().begin());
  if (measured_ != nullptr) exchange.measure(measured_->latency(index));
  const auto value = run(*action, request, *parameters);
  const http::Mark after = parts_.engine.appended();
  if (!value) {
    if (measured_ != nullptr) measured_->count_error(index, value.error().code);
    return fail_with(exchange, form, value.error(), after);
  }
  const std::string id = new_request_id();
  std::string body;
  if (form == Form::json) {
    value->write_json(body);
  } else {
    body = success_xml(*action, *value, id);
  }
  write_reply(exchange, 200, form == Form::json ? kJson : kXml, id, body, after);
}

}  // namespace redrive::cloudwatch
