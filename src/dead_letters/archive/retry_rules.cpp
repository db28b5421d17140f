#include "dead_letters/archive/retry_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace redrive::archive {
namespace {

constexpr std::string_view kTraceField = "Redrive-Retry=";
constexpr std::int64_t kCountMax = 1'000'000'000;

std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto count = parse_int<std::int64_t>(text);
  if (!count || *count < 0 || *count > kCountMax) return std::nullopt;
  return count;
}

std::optional<std::int64_t> count_in_trace(std::string_view trace) {
  for (const std::string_view field : split(trace, ';')) {
    if (field.starts_with(kTraceField)) return parse_count(field.substr(kTraceField.size()));
  }
  return std::nullopt;
}

std::string trace_with_count(std::string_view trace, std::int64_t count) {
  std::string out;
  for (const std::string_view field : split(trace, ';')) {
    if (!field.empty() && !field.starts_with(kTraceField)) out.append(field).append(";");
  }
  return fmt::format("{}{}{}", out, kTraceField, count);
}

std::int32_t delay_of(const RetryRules& rules, std::int64_t carried) {
  if (rules.backoff_seconds <= 0) return 0;
  const std::int64_t doublings = std::min<std::int64_t>(carried, 10);  // 2^10 > kDelaySecondsMax
  const std::int64_t seconds = std::int64_t{rules.backoff_seconds} << doublings;
  return static_cast<std::int32_t>(std::min<std::int64_t>(seconds, kDelaySecondsMax));
}

// Stores the count where the next reader looks for it.
void write_count(RetryDecision& decision, std::int64_t count) {
  auto& attributes = decision.letter.attributes;
  const LetterAttribute counter{std::string(kRetryCount), "Number", std::to_string(count)};
  const auto found = std::ranges::find(attributes, kRetryCount, &LetterAttribute::name);
  if (found != attributes.end()) {
    *found = counter;
  } else if (attributes.size() < kAttributesMax && decision.letter.size() + counter.name.size() +
                                                           counter.data_type.size() +
                                                           counter.value.size() <=
                                                       kLetterBytesMax) {
    attributes.push_back(counter);
  } else {
    decision.trace = trace_with_count(decision.letter.system_attribute("AWSTraceHeader"), count);
  }
}

}  // namespace

RetryDecision decide_retry(Letter letter, const RetryRules& rules) {
  RetryDecision decision;
  std::optional<std::int64_t> count;
  if (const LetterAttribute* const counter = letter.attribute(kRetryCount)) {
    if (!counter->is_binary()) count = parse_count(counter->value);
    decision.counter_was_unreadable = !count;
  } else {
    count = count_in_trace(letter.system_attribute("AWSTraceHeader"));
  }
  decision.carried = count.value_or(0);
  decision.letter = std::move(letter);
  decision.fate = decision.carried <= rules.retries_max ? Fate::retry : Fate::archive;
  decision.delay_seconds = delay_of(rules, decision.carried);
  write_count(decision, decision.carried + 1);
  return decision;
}

std::string retry_deduplication_id(std::string_view message_id, std::int64_t next_count) {
  return sha256_hex(fmt::format("redrive {} {}", message_id, next_count));
}

}  // namespace redrive::archive
