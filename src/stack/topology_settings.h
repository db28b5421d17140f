#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "stack/node.h"

// The settings of a topology file, by table.

namespace redrive::stack {

// The type of a setting, and its encoding.
enum class Form : std::uint8_t { text, number, seconds, flag, map, list };

struct Setting {
  std::string_view name;    // In the file.
  std::string_view member;  // In the API; empty: handled separately.
  Form form;
};

inline constexpr std::array kQueueSettings = {
    Setting{"name", "", Form::text},
    Setting{"fifo", "", Form::flag},
    Setting{"dlq", "", Form::text},
    Setting{"max-receives", "", Form::number},
    Setting{"redrive-allow", "", Form::list},
    Setting{"policy", "", Form::map},
    Setting{"tags", "", Form::map},
    Setting{"attributes", "", Form::map},
    Setting{"dead-letters", "", Form::map},
    Setting{"visibility-timeout", "VisibilityTimeout", Form::seconds},
    Setting{"retention", "MessageRetentionPeriod", Form::seconds},
    Setting{"delay", "DelaySeconds", Form::seconds},
    Setting{"receive-wait", "ReceiveMessageWaitTimeSeconds", Form::seconds},
    Setting{"message-bytes", "MaximumMessageSize", Form::number},
    Setting{"content-based-deduplication", "ContentBasedDeduplication", Form::flag},
    Setting{"deduplication-scope", "DeduplicationScope", Form::text},
    Setting{"fifo-throughput-limit", "FifoThroughputLimit", Form::text},
};
// A dead-letter queue's policy, with the names of the management API.
inline constexpr std::array kDeadLetterSettings = {
    Setting{"max-redrives", "maxRedrives", Form::number},
    Setting{"redrive-after", "redriveAfterSeconds", Form::seconds},
    Setting{"backoff-rate", "backoffRate", Form::number},
    Setting{"max-redrive-after", "maxRedriveAfterSeconds", Form::seconds},
    Setting{"then", "then", Form::text},
    Setting{"archive", "archive", Form::text},
    Setting{"archive-expiring", "archiveExpiring", Form::flag},
};
inline constexpr std::array kFunctionSettings = {
    Setting{"name", "", Form::text},
    Setting{"code", "", Form::text},
    Setting{"inline", "", Form::text},
    Setting{"directory", "", Form::text},
    Setting{"environment", "", Form::map},
    Setting{"dlq", "", Form::text},
    Setting{"tags", "", Form::map},
    Setting{"retries", "", Form::number},
    Setting{"max-event-age", "", Form::seconds},
    Setting{"on-success", "", Form::text},
    Setting{"on-failure", "", Form::text},
    Setting{"description", "Description", Form::text},
    Setting{"runtime", "Runtime", Form::text},
    Setting{"handler", "Handler", Form::text},
    Setting{"role", "Role", Form::text},
    Setting{"timeout", "Timeout", Form::seconds},
    Setting{"memory", "MemorySize", Form::number},
    Setting{"concurrency", "ReservedConcurrentExecutions", Form::number},
    Setting{"command", "Command", Form::list},
    Setting{"url", "Url", Form::text},
};
inline constexpr std::array kMappingSettings = {
    Setting{"queue", "", Form::text},
    Setting{"function", "", Form::text},
    Setting{"report-item-failures", "", Form::flag},
    Setting{"filters", "", Form::list},
    Setting{"concurrency", "", Form::number},
    Setting{"on-success", "", Form::text},
    Setting{"on-failure", "", Form::text},
    Setting{"retry", "", Form::list},
    Setting{"tags", "", Form::map},
    Setting{"batch-size", "BatchSize", Form::number},
    Setting{"window", "MaximumBatchingWindowInSeconds", Form::seconds},
    Setting{"enabled", "Enabled", Form::flag},
    Setting{"bisect", "BisectBatchOnFunctionError", Form::flag},
    Setting{"isolate-retries", "IsolateRetries", Form::flag},
    Setting{"retries", "MaximumRetryAttempts", Form::number},
    Setting{"max-age", "MaximumRecordAgeInSeconds", Form::seconds},
};
inline constexpr std::array kRetrySettings = {
    Setting{"errors", "ErrorEquals", Form::list},
    Setting{"interval", "IntervalSeconds", Form::seconds},
    Setting{"attempts", "MaxAttempts", Form::number},
    Setting{"backoff-rate", "BackoffRate", Form::number},
    Setting{"max-delay", "MaxDelaySeconds", Form::seconds},
    Setting{"jitter", "JitterStrategy", Form::text},
};
inline constexpr std::array kBucketSettings = {
    Setting{"name", "", Form::text},
    Setting{"tags", "", Form::map},
};
inline constexpr std::array kAlarmSettings = {
    Setting{"name", "", Form::text},
    Setting{"queue", "", Form::text},
    Setting{"dimensions", "", Form::map},
    Setting{"tags", "", Form::map},
    Setting{"description", "AlarmDescription", Form::text},
    Setting{"namespace", "Namespace", Form::text},
    Setting{"metric", "MetricName", Form::text},
    Setting{"statistic", "Statistic", Form::text},
    Setting{"percentile", "ExtendedStatistic", Form::text},
    Setting{"comparison", "ComparisonOperator", Form::text},
    Setting{"threshold", "Threshold", Form::number},
    Setting{"period", "Period", Form::seconds},
    Setting{"periods", "EvaluationPeriods", Form::number},
    Setting{"datapoints", "DatapointsToAlarm", Form::number},
    Setting{"missing", "TreatMissingData", Form::text},
    Setting{"enabled", "ActionsEnabled", Form::flag},
    Setting{"actions", "AlarmActions", Form::list},
    Setting{"ok-actions", "OKActions", Form::list},
    Setting{"missing-actions", "InsufficientDataActions", Form::list},
};

// 90, "90s", "15m", "4h", "14d".
std::optional<std::int64_t> seconds_of(const Node& value);

// Checks all settings of a table and returns those with an API name under that name. `where` names
// the table in errors.
Result<Node> members_of(const Node& table, std::span<const Setting> settings,
                        std::string_view where);

}  // namespace redrive::stack
