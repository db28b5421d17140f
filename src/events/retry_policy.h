#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "functions/definition.h"

namespace redrive::events {

// The name under which a message failed that a handler reported without saying why.
inline constexpr std::string_view kBatchItemFailure = "BatchItemFailure";
// Counters are kept with every message, so their number is bounded.
inline constexpr std::size_t kRetriersMax = 16;
inline constexpr std::size_t kErrorNamesMax = 64;
inline constexpr std::size_t kErrorNameBytesMax = 256;

// How often and how patiently to try again after some errors: Step Functions' Retry.
using functions::Retrier;
using Jitter = Retrier::Jitter;
using RetryPolicy = std::vector<Retrier>;

// A JSON list of retriers under Step Functions' names.
Result<RetryPolicy> parse_retry_policy(std::string_view json);
Result<void> check_retry_policy(const RetryPolicy& policy);
// With every field that parsing would fill in otherwise.
std::string write_retry_policy(const RetryPolicy& policy);

struct RetryDecision {
  enum class Verdict : std::uint8_t {
    retry,
    exhausted,  // The retrier for this error has been used up,
    no_match,   // or there is none.
  };
  Verdict verdict = Verdict::no_match;
  std::size_t retrier = 0;  // Whose counter goes up by one, when there is a retry.
  Duration delay{0};
};

// What becomes of a message after an error. The first retrier that names the error decides, even
// when it is used up. `retries` holds how often each has been used for this message already; those
// beyond its end count as zero. `random01` is chance, from 0 to 1. An error may have several names.
RetryDecision decide_retry(const RetryPolicy& policy, std::span<const std::string_view> error_names,
                           std::span<const std::uint32_t> retries, double random01);
inline RetryDecision decide_retry(const RetryPolicy& policy, std::string_view error_name,
                                  std::span<const std::uint32_t> retries, double random01) {
  return decide_retry(policy, std::span(&error_name, 1), retries, random01);
}

// Whether a name in ErrorEquals speaks of an error, wildcards included. Timeouts and failures of
// the platform are known under Step Functions' names, too.
bool names_error(std::string_view name, std::string_view error);

}  // namespace redrive::events
