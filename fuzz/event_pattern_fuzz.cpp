// The part before the first zero byte is a filter pattern, the rest the body of a message it is
// applied to; the same bytes are read as a retry policy with an error's name, and as a handler's
// response.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "functions/events/batch_result.h"
#include "functions/events/pattern.h"
#include "functions/events/retry_policy.h"

namespace {

using namespace redrive::events;

void pattern(std::string_view text, std::string_view body) {
  const auto parsed = parse_pattern(text);
  if (!parsed) return;
  Record record;
  record.body = body;
  record.attributes = {{"SenderId", "a"}};
  record.message_attributes = {{"name", "String", "value"}};
  const bool fits = parsed->matches(record);
  assert(parsed->matches(record) == fits);
}

void retries(std::string_view text, std::string_view error) {
  const auto policy = parse_retry_policy(text);
  if (!policy) return;
  const RetryDecision decision = decide_retry(*policy, error, {}, 1.0);
  assert(decision.delay.count() >= 0);
  const std::string written = write_retry_policy(*policy);
  assert(write_retry_policy(*parse_retry_policy(written)) == written);
}

void answer(std::string_view text) {
  constexpr std::string_view kIds[] = {"a", "b"};
  const BatchResult result = judge_batch(text, kIds);
  assert(result.failed.size() == 2);
  assert(result.fault.empty() || result.failures() == 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = std::min(text.find('\0'), text.size());
  const std::string_view rest = text.substr(std::min(zero + 1, text.size()));
  pattern(text.substr(0, zero), rest);
  retries(text.substr(0, zero), rest);
  answer(text);
  return 0;
}
