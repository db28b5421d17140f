#include "aws/cloudwatch/service.h"

#include "aws/sqs/model/errors.h"
#include "net/auth/credential.h"

namespace redrive::cloudwatch {
namespace {

using auth::Right;

constexpr std::string_view kRpcPrefix = "/service/GraniteServiceVersion20100801/";
constexpr std::string_view kVersion = "Version=2010-08-01";

// A query can take many milliseconds.
template <auto operation>
consteval auto slow(std::string_view name, Right right) {
  return front::action<operation>(name, right, front::Pace::slow);
}

constexpr front::Action<Call> kActions[] = {
    slow<get_metric_data>("GetMetricData", Right::look),
    slow<get_metric_statistics>("GetMetricStatistics", Right::look),
    slow<list_metrics>("ListMetrics", Right::look),
    slow<put_metric_alarm>("PutMetricAlarm", Right::operate),
    slow<describe_alarms>("DescribeAlarms", Right::look),
    slow<describe_alarms_for_metric>("DescribeAlarmsForMetric", Right::look),
    slow<describe_alarm_history>("DescribeAlarmHistory", Right::look),
    slow<set_alarm_state>("SetAlarmState", Right::operate),
    slow<enable_alarm_actions>("EnableAlarmActions", Right::operate),
    slow<disable_alarm_actions>("DisableAlarmActions", Right::operate),
    slow<delete_alarms>("DeleteAlarms", Right::operate),
    slow<tag_resource>("TagResource", Right::operate),
    slow<untag_resource>("UntagResource", Right::operate),
    slow<list_tags_for_resource>("ListTagsForResource", Right::look),
};

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

const front::TableTraits kTraits{
    .name = "cloudwatch",
    .scope = front::Gate::Api::monitoring,
    .refusal_of = refusal_of,
    .target_prefix = "GraniteServiceVersion20100801.",
    .json_type = "application/x-amz-json-1.0",
    .xml_namespace = "http://monitoring.amazonaws.com/doc/2010-08-01/",
    .unknown_members = wire::UnknownMembers::ignore,
    .title = "CloudWatch",
    .routes_first = true,
};

Duration wall_ahead(engine::Engine& engine) {
  return engine.turn([](engine::Turn& turn) { return turn.stamp().wall - turn.stamp().now; });
}

}  // namespace

bool names_cloudwatch(const http::Request& request) {
  return request.path.starts_with(kRpcPrefix) ||
         request.header("x-amz-target").starts_with(kTraits.target_prefix);
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

std::span<const front::Action<Call>> actions() {
  return kActions;
}

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      api_(kTraits, kActions,
           [this](front::ActionCall call) {
             return Call{std::move(call), parts_, wall_ahead(parts_.engine)};
           },
           {.gate = parts_.gate,
            .observers = parts_.observers,
            .offload = parts_.offload,
            .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

}  // namespace redrive::cloudwatch
