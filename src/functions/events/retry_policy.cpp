#include "functions/events/retry_policy.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "net/wire/encode.h"

namespace redrive::events {
namespace {

using Element = simdjson::dom::element;

constexpr std::uint32_t kRetryNumberMax = 99'999'999;
constexpr std::uint32_t kDelaySecondsEnd = 31'622'400;  // 366 days.
constexpr std::string_view kAll = "States.ALL";
constexpr std::array<std::string_view, 16> kStatesNames = {"States.ALL",
                                                           "States.TaskFailed",
                                                           "States.Timeout",
                                                           "States.HeartbeatTimeout",
                                                           "States.Permissions",
                                                           "States.DataLimitExceeded",
                                                           "States.Runtime",
                                                           "States.BranchFailed",
                                                           "States.NoChoiceMatched",
                                                           "States.IntrinsicFailure",
                                                           "States.ExceedToleratedFailureThreshold",
                                                           "States.ItemReaderFailed",
                                                           "States.ResultWriterFailed",
                                                           "States.ParameterPathFailure",
                                                           "States.ResultPathMatchFailure",
                                                           "States.QueryEvaluationError"};

std::unexpected<Error> bad(std::size_t index, std::string_view what) {
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("RetryPolicy: retrier {}: {}", index + 1, what));
}

Result<void> check_names(const RetryPolicy& policy, std::size_t index) {
  const auto& names = policy[index].error_equals;
  if (names.empty()) return bad(index, "ErrorEquals must name at least one error.");
  if (names.size() > kErrorNamesMax)
    return bad(index,
               fmt::format("ErrorEquals must not name more than {} errors.", kErrorNamesMax));
  for (const std::string& name : names) {
    if (name.empty() || name.size() > kErrorNameBytesMax)
      return bad(index, "names of errors must have 1 to 256 bytes.");
    if (name.starts_with("States.") && std::ranges::find(kStatesNames, name) == kStatesNames.end())
      return bad(index, fmt::format("{} is not an error of Step Functions.", name));
  }
  if (std::ranges::find(names, kAll) == names.end()) return {};
  if (names.size() > 1) return bad(index, "States.ALL must be the only name in ErrorEquals.");
  if (index + 1 < policy.size()) return bad(index, "States.ALL must be in the last retrier.");
  return {};
}

Result<void> check_numbers(const Retrier& retrier, std::size_t index) {
  if (retrier.interval_seconds == 0 || retrier.interval_seconds > kRetryNumberMax)
    return bad(index, "IntervalSeconds must be between 1 and 99999999.");
  if (retrier.max_attempts > kRetryNumberMax)
    return bad(index, "MaxAttempts must be between 0 and 99999999.");
  if (!(retrier.backoff_rate >= 1.0) || !std::isfinite(retrier.backoff_rate))
    return bad(index, "BackoffRate must be at least 1.0.");
  if (!retrier.max_delay_seconds) return {};
  if (*retrier.max_delay_seconds == 0 || *retrier.max_delay_seconds >= kDelaySecondsEnd)
    return bad(index, "MaxDelaySeconds must be between 1 and 31622399.");
  if (*retrier.max_delay_seconds <= retrier.interval_seconds)
    return bad(index, "MaxDelaySeconds must be more than IntervalSeconds.");
  return {};
}

Result<std::uint32_t> read_count(Element value, std::string_view name, std::size_t index) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < 0 || number > INT32_MAX)
    return bad(index, fmt::format("{} must be a non-negative integer.", name));
  return static_cast<std::uint32_t>(number);
}

Result<void> read_error_names(Element value, Retrier& retrier, std::size_t index) {
  simdjson::dom::array names;
  if (value.get(names) != simdjson::SUCCESS)
    return bad(index, "ErrorEquals must be a list of names.");
  for (const Element name : names) {
    std::string_view text;
    if (name.get(text) != simdjson::SUCCESS)
      return bad(index, "ErrorEquals must be a list of names.");
    retrier.error_equals.emplace_back(text);
  }
  return {};
}

Result<void> read_jitter(Element value, Retrier& retrier, std::size_t index) {
  std::string_view text;
  const bool is_text = value.get(text) == simdjson::SUCCESS;
  if (!is_text || (text != "FULL" && text != "NONE"))
    return bad(index, "JitterStrategy must be FULL or NONE.");
  retrier.jitter = text == "FULL" ? Jitter::full : Jitter::none;
  return {};
}

Result<void> read_field(std::string_view name, Element value, Retrier& retrier, std::size_t index) {
  if (name == "ErrorEquals") return read_error_names(value, retrier, index);
  if (name == "JitterStrategy") return read_jitter(value, retrier, index);
  if (name == "BackoffRate") {
    if (value.get(retrier.backoff_rate) == simdjson::SUCCESS) return {};
    return bad(index, "BackoffRate must be a number.");
  }
  if (name == "IntervalSeconds") {
    retrier.interval_seconds = TRY(read_count(value, name, index));
  } else if (name == "MaxAttempts") {
    retrier.max_attempts = TRY(read_count(value, name, index));
  } else if (name == "MaxDelaySeconds") {
    retrier.max_delay_seconds = TRY(read_count(value, name, index));
  } else if (name != "Comment") {
    return bad(index, fmt::format("unknown field {}.", name));
  }
  return {};
}

Result<Retrier> read_retrier(Element element, std::size_t index) {
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return bad(index, "it must be an object.");
  Retrier retrier;
  for (const auto& [name, value] : object) RETURN_IF_ERROR(read_field(name, value, retrier, index));
  return retrier;
}

void append_retrier(std::string& out, const Retrier& retrier) {
  out += R"({"ErrorEquals":[)";
  for (const std::string& name : retrier.error_equals) {
    if (out.back() != '[') out += ',';
    wire::append_json_text(out, name);
  }
  fmt::format_to(std::back_inserter(out),
                 R"(],"IntervalSeconds":{},"MaxAttempts":{},"BackoffRate":{})",
                 retrier.interval_seconds,
                 retrier.max_attempts,
                 retrier.backoff_rate);
  if (retrier.max_delay_seconds)
    fmt::format_to(std::back_inserter(out), R"(,"MaxDelaySeconds":{})", *retrier.max_delay_seconds);
  out += retrier.jitter == Jitter::full ? R"(,"JitterStrategy":"FULL"})"
                                        : R"(,"JitterStrategy":"NONE"})";
}

bool is_timeout(std::string_view error) {
  return error == "States.Timeout" || error == "States.HeartbeatTimeout" ||
         error == "Sandbox.Timedout";
}

// The platform killed the process; not an error of the handler.
bool is_platform_failure(std::string_view error) {
  return error == "Lambda.Unknown" || error == "Sandbox.Timedout" || error == "Runtime.ExitError" ||
         error == "Runtime.OutOfMemory";
}

Duration delay_of(const Retrier& retrier, std::uint32_t used, double random01) {
  double seconds = retrier.interval_seconds * std::pow(retrier.backoff_rate, used);
  seconds = std::min(seconds, double{kDelaySecondsEnd});
  if (retrier.max_delay_seconds) seconds = std::min(seconds, double(*retrier.max_delay_seconds));
  if (retrier.jitter == Jitter::full) seconds *= std::clamp(random01, 0.0, 1.0);
  return Duration(std::llround(seconds * 1000));
}

}  // namespace

Result<void> check_retry_policy(const RetryPolicy& policy) {
  if (policy.size() > kRetriersMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("RetryPolicy must not have more than {} retriers.", kRetriersMax));
  }
  for (std::size_t i = 0; i < policy.size(); ++i) {
    RETURN_IF_ERROR(check_names(policy, i));
    RETURN_IF_ERROR(check_numbers(policy[i], i));
  }
  return {};
}

Result<RetryPolicy> parse_retry_policy(std::string_view json) {
  simdjson::dom::parser parser;
  Element document;
  simdjson::dom::array list;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS ||
      document.get(list) != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_parameter_value, "RetryPolicy must be a list of retriers.");
  }
  RetryPolicy policy;
  for (const Element element : list) policy.push_back(TRY(read_retrier(element, policy.size())));
  RETURN_IF_ERROR(check_retry_policy(policy));
  return policy;
}

std::string write_retry_policy(const RetryPolicy& policy) {
  std::string out = "[";
  for (const Retrier& retrier : policy) {
    if (out.back() != '[') out += ',';
    append_retrier(out, retrier);
  }
  return out += ']';
}

bool names_error(std::string_view name, std::string_view error) {
  if (name == kAll) return error != "States.DataLimitExceeded" && error != "States.Runtime";
  if (name == "States.TaskFailed") return !is_timeout(error);
  if (name == "States.Timeout" && is_timeout(error)) return true;
  if (name == "Lambda.Unknown" && is_platform_failure(error)) return true;
  return name == error;
}

RetryDecision decide_retry(const RetryPolicy& policy, std::span<const std::string_view> error_names,
                           std::span<const std::uint32_t> retries, double random01) {
  using Verdict = RetryDecision::Verdict;
  for (std::size_t i = 0; i < policy.size(); ++i) {
    const bool fits = std::ranges::any_of(policy[i].error_equals, [&](const std::string& name) {
      return std::ranges::any_of(error_names,
                                 [&](std::string_view error) { return names_error(name, error); });
    });
    if (!fits) continue;
    const std::uint32_t used = i < retries.size() ? retries[i] : 0;
    if (used >= policy[i].max_attempts) return {.verdict = Verdict::exhausted, .retrier = i};
    return {.verdict = Verdict::retry, .retrier = i, .delay = delay_of(policy[i], used, random01)};
  }
  return {.verdict = Verdict::no_match};
}

}  // namespace redrive::events
