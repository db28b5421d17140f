#include "functions/events/retry_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace redrive::events {
namespace {

using Verdict = RetryDecision::Verdict;

RetryPolicy policy_of(const std::string& json) {
  const auto policy = parse_retry_policy(json);
  EXPECT_TRUE(policy.has_value()) << json;
  return policy ? *policy : RetryPolicy();
}

// The results of a sequence of errors: delays in milliseconds, -1 exhausted, -2 no match.
std::vector<std::int64_t> delays(const RetryPolicy& policy, const std::vector<std::string>& errors,
                                 double random01 = 0.5) {
  std::vector<std::uint32_t> counters;
  std::vector<std::int64_t> found;
  for (const std::string& error : errors) {
    const RetryDecision decision = decide_retry(policy, error, counters, random01);
    if (decision.verdict != Verdict::retry) {
      found.push_back(decision.verdict == Verdict::exhausted ? -1 : -2);
      continue;
    }
    counters.resize(std::max(counters.size(), decision.retrier + 1));
    ++counters[decision.retrier];
    found.push_back(decision.delay.count());
  }
  return found;
}
using Delays = std::vector<std::int64_t>;

TEST(DecideRetry, EachRetrierHasItsCounter) {
  const RetryPolicy policy = policy_of(R"([
      {"ErrorEquals":["ErrorA","ErrorB"],"IntervalSeconds":1,"BackoffRate":2,"MaxAttempts":2},
      {"ErrorEquals":["ErrorC"],"IntervalSeconds":5}])");
  EXPECT_EQ(delays(policy, {"ErrorA", "ErrorB", "ErrorC", "ErrorB"}),
            (Delays{1000, 2000, 5000, -1}));
}

TEST(DecideRetry, GrowsAndIsCapped) {
  EXPECT_EQ(
      delays(
          policy_of(
              R"([{"ErrorEquals":["E"],"IntervalSeconds":3,"BackoffRate":1.5,"MaxAttempts":2}])"),
          {"E", "E", "E"}),
      (Delays{3000, 4500, -1}));
  EXPECT_EQ(delays(policy_of(R"([{"ErrorEquals":["E"],"IntervalSeconds":3,"BackoffRate":2,
                                  "MaxDelaySeconds":5,"MaxAttempts":4}])"),
                   {"E", "E", "E", "E", "E"}),
            (Delays{3000, 5000, 5000, 5000, -1}));
  // A delay that overflows is limited to a year.
  EXPECT_EQ(delays(policy_of(R"([{"ErrorEquals":["E"],"BackoffRate":1e300,"MaxAttempts":9}])"),
                   {"E", "E", "E"}),
            (Delays{1000, 31'622'400'000, 31'622'400'000}));
}

TEST(DecideRetry, JitterIsAnywhereUpToTheDelay) {
  const RetryPolicy policy =
      policy_of(R"([{"ErrorEquals":["E"],"IntervalSeconds":10,"JitterStrategy":"FULL"}])");
  EXPECT_EQ(delays(policy, {"E"}, 0.0), (Delays{0}));
  EXPECT_EQ(delays(policy, {"E"}, 0.25), (Delays{2500}));
  EXPECT_EQ(delays(policy, {"E"}, 1.0), (Delays{10'000}));
}

TEST(DecideRetry, TheFirstThatNamesTheErrorDecides) {
  const RetryPolicy policy = policy_of(R"([{"ErrorEquals":["Fatal"],"MaxAttempts":0},
                                           {"ErrorEquals":["Fatal","Soft"],"MaxAttempts":9}])");
  EXPECT_EQ(delays(policy, {"Fatal", "Soft", "Other", "soft"}), (Delays{-1, 1000, -2, -2}));
  EXPECT_EQ(delays({}, {"Any"}), (Delays{-2}));
}

TEST(NamesError, KnowsWildcardsAndOtherNames) {
  const std::vector<std::pair<const char*, const char*>> yes = {
      {"States.ALL", "ValueError"},
      {"States.ALL", "Sandbox.Timedout"},
      {"States.TaskFailed", "X"},
      {"States.Timeout", "Sandbox.Timedout"},
      {"Sandbox.Timedout", "Sandbox.Timedout"},
      {"States.Timeout", "States.HeartbeatTimeout"},
      {"Lambda.Unknown", "Runtime.ExitError"},
      {"java.lang.Exception", "java.lang.Exception"}};
  const std::vector<std::pair<const char*, const char*>> no = {
      {"States.ALL", "States.DataLimitExceeded"},
      {"States.ALL", "States.Runtime"},
      {"States.TaskFailed", "Sandbox.Timedout"},
      {"ValueError", "valueerror"},
      {"States.Timeout", "ValueError"},
      {"Lambda.Unknown", "ValueError"}};
  for (const auto& [name, error] : yes)
    EXPECT_TRUE(names_error(name, error)) << name << ' ' << error;
  for (const auto& [name, error] : no)
    EXPECT_FALSE(names_error(name, error)) << name << ' ' << error;
}

// Jitter applies to the capped delay: otherwise a capped delay would hardly vary.
TEST(DecideRetry, JitterIsTakenOfTheCappedDelay) {
  const RetryPolicy policy = policy_of(
      R"([{"ErrorEquals":["E"],"IntervalSeconds":8,"MaxDelaySeconds":10,"MaxAttempts":3,
           "JitterStrategy":"FULL"}])");
  EXPECT_EQ(delays(policy, {"E", "E", "E"}, 0.5), (Delays{4000, 5000, 5000}));
  EXPECT_EQ(delays(policy, {"E", "E", "E"}, 1.0), (Delays{8000, 10'000, 10'000}));
  EXPECT_EQ(delays(policy, {"E", "E", "E"}, 0.0), (Delays{0, 0, 0}));
}

TEST(ParseRetryPolicy, FillsInWhatStepFunctionsDoes) {
  const RetryPolicy policy = policy_of(R"([{"ErrorEquals":["E"]}])");
  EXPECT_EQ(policy[0].interval_seconds, 1u);
  EXPECT_EQ(policy[0].max_attempts, 3u);
  EXPECT_EQ(policy[0].backoff_rate, 2.0);
  EXPECT_FALSE(policy[0].max_delay_seconds.has_value());
  EXPECT_EQ(policy[0].jitter, Jitter::none);
  EXPECT_EQ(
      write_retry_policy(policy),
      R"([{"ErrorEquals":["E"],"IntervalSeconds":1,"MaxAttempts":3,"BackoffRate":2,"JitterStrategy":"NONE"}])");
}

TEST(ParseRetryPolicy, ReadsWhatItWrote) {
  for (const char* json : {"[]",
                           R"([{"ErrorEquals":["A","B\"\u0041"],"MaxAttempts":0,"BackoffRate":1.25},
                               {"ErrorEquals":["States.ALL"],"IntervalSeconds":7,"MaxDelaySeconds":900,
                                "JitterStrategy":"FULL","Comment":"last"}])"}) {
    const std::string written = write_retry_policy(policy_of(json));
    EXPECT_EQ(write_retry_policy(policy_of(written)), written);
  }
}

TEST(ParseRetryPolicy, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{}", "RetryPolicy must be a list of retriers."},
      {"nonsense", "RetryPolicy must be a list of retriers."},
      {"[1]", "RetryPolicy: retrier 1: it must be an object."},
      {R"([{}])", "RetryPolicy: retrier 1: ErrorEquals must name at least one error."},
      {R"([{"ErrorEquals":[]}])",
       "RetryPolicy: retrier 1: ErrorEquals must name at least one error."},
      {R"([{"ErrorEquals":"E"}])", "RetryPolicy: retrier 1: ErrorEquals must be a list of names."},
      {R"([{"ErrorEquals":[1]}])", "RetryPolicy: retrier 1: ErrorEquals must be a list of names."},
      {R"([{"ErrorEquals":[""]}])",
       "RetryPolicy: retrier 1: names of errors must have 1 to 256 bytes."},
      {R"([{"ErrorEquals":["States.Nothing"]}])",
       "RetryPolicy: retrier 1: States.Nothing is not an error of Step Functions."},
      {R"([{"ErrorEquals":["States.ALL","E"]}])",
       "RetryPolicy: retrier 1: States.ALL must be the only name in ErrorEquals."},
      {R"([{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["E"]}])",
       "RetryPolicy: retrier 1: States.ALL must be in the last retrier."},
      {R"([{"ErrorEquals":["E"]},{"ErrorEquals":["E"],"BackoffRate":0.5}])",
       "RetryPolicy: retrier 2: BackoffRate must be at least 1.0."},
      {R"([{"ErrorEquals":["E"],"BackoffRate":"2"}])",
       "RetryPolicy: retrier 1: BackoffRate must be a number."},
      {R"([{"ErrorEquals":["E"],"IntervalSeconds":0}])",
       "RetryPolicy: retrier 1: IntervalSeconds must be between 1 and 99999999."},
      {R"([{"ErrorEquals":["E"],"IntervalSeconds":-1}])",
       "RetryPolicy: retrier 1: IntervalSeconds must be a non-negative integer."},
      {R"([{"ErrorEquals":["E"],"MaxAttempts":1.5}])",
       "RetryPolicy: retrier 1: MaxAttempts must be a non-negative integer."},
      {R"([{"ErrorEquals":["E"],"MaxAttempts":100000000}])",
       "RetryPolicy: retrier 1: MaxAttempts must be between 0 and 99999999."},
      {R"([{"ErrorEquals":["E"],"MaxDelaySeconds":31622400}])",
       "RetryPolicy: retrier 1: MaxDelaySeconds must be between 1 and 31622399."},
      {R"([{"ErrorEquals":["E"],"IntervalSeconds":9,"MaxDelaySeconds":9}])",
       "RetryPolicy: retrier 1: MaxDelaySeconds must be more than IntervalSeconds."},
      {R"([{"ErrorEquals":["E"],"JitterStrategy":"SOME"}])",
       "RetryPolicy: retrier 1: JitterStrategy must be FULL or NONE."},
      {R"([{"ErrorEquals":["E"],"Interval":1}])",
       "RetryPolicy: retrier 1: unknown field Interval."}};
  for (const auto& [json, message] : cases) {
    SCOPED_TRACE(json);
    const auto policy = parse_retry_policy(json);
    ASSERT_FALSE(policy.has_value());
    EXPECT_EQ(policy.error().message, message);
  }
}

TEST(CheckRetryPolicy, BoundsTheCounters) {
  const RetryPolicy policy(kRetriersMax + 1, Retrier{.error_equals = {"E"}});
  EXPECT_FALSE(check_retry_policy(policy).has_value());
}

}  // namespace
}  // namespace redrive::events
