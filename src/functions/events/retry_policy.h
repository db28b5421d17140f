#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "functions/definitions/definition.h"

namespace redrive::events {

// Error name of a message that a handler reported as failed without a cause.
inline constexpr std::string_view kBatchItemFailure = "BatchItemFailure";
// Counters are stored with every message, so their number is limited.
inline constexpr std::size_t kRetriersMax = 16;
inline constexpr std::size_t kErrorNamesMax = 64;
inline constexpr std::size_t kErrorNameBytesMax = 256;

// How often and with which delays to retry after certain errors: Step Functions' Retry.
using functions::Retrier;
using Jitter = Retrier::Jitter;
using RetryPolicy = std::vector<Retrier>;

// A JSON list of retriers with Step Functions' names.
Result<RetryPolicy> parse_retry_policy(std::string_view json);
Result<void> check_retry_policy(const RetryPolicy& policy);
// Includes the fields that parsing would default.
std::string write_retry_policy(const RetryPolicy& policy);

struct RetryDecision {
  enum class Verdict : std::uint8_t {
    retry,
    exhausted,  // The retrier for this error has been used up,
    no_match,   // or none matches.
  };
  Verdict verdict = Verdict::no_match;
  std::size_t retrier = 0;  // Its counter is incremented if there is a retry.
  Duration delay{0};
};

// Decides what to do with a message after an error. The first retrier that matches decides, even if
// it is exhausted. `retries` has the number of uses of each retrier for this message so far, zero
// beyond its end. `random01` is between 0 and 1. An error may have several names.
RetryDecision decide_retry(const RetryPolicy& policy, std::span<const std::string_view> error_names,
                           std::span<const std::uint32_t> retries, double random01);
inline RetryDecision decide_retry(const RetryPolicy& policy, std::string_view error_name,
                                  std::span<const std::uint32_t> retries, double random01) {
  return decide_retry(policy, std::span(&error_name, 1), retries, random01);
}

// Whether a name in ErrorEquals matches an error, including wildcards. Timeouts and platform
// failures also match Step Functions' names.
bool names_error(std::string_view name, std::string_view error);

}  // namespace redrive::events
