// Arbitrary bytes for each untrusted input of dead_letters/triage. The first byte chooses: a
// filter, stored feature counts, a failure report with its body, a message to count and to show, or
// a patch with its document.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "dead_letters/triage/features.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/triage/fingerprint.h"
#include "dead_letters/triage/json_patch.h"
#include "dead_letters/triage/json_scan.h"
#include "dead_letters/triage/rank.h"
#include "dead_letters/triage/secrets.h"

namespace {

using namespace redrive::triage;

constexpr AttributeView kAttributes[] = {{"store_id", "Number", "3"}, {"a", "String", "x"}};

// The part before the first zero byte is the filter, the rest the body it is applied to.
void filter(std::string_view text) {
  const std::size_t zero = std::min(text.find('\0'), text.size());
  const auto parsed = Filter::parse(text.substr(0, zero));
  if (!parsed) return;
  parsed->matches(
      {.body = text.substr(std::min(zero + 1, text.size())), .attributes = kAttributes});
  const auto negated = Filter::parse("not (" + parsed->text() + ")");
  // Parsing fails only if the added words exceed a limit.
  if (negated) assert(negated->matches({}) != parsed->matches({}));
}

void stored_counts(std::string_view bytes) {
  const auto counts = FeatureCounts::decode(bytes);
  if (!counts) return;
  assert(counts->memory_bytes() <= FeatureCounts::kMemoryBytesMax);
  assert(*FeatureCounts::decode(counts->encode()) == *counts);
  FeatureCounts sum = *counts;
  sum.merge(*counts);
  sum.add({.body = R"({"a":1})", .attributes = kAttributes});
  assert(sum.memory_bytes() <= FeatureCounts::kMemoryBytesMax);
  rank(sum, *counts, 5);
  auto dead = FeatureCounts::with_names();
  for (int i = 0; i < 5; ++i) dead.add({.body = R"({"a":[1,"x"]})", .attributes = kAttributes});
  rank(dead, *counts, 5);
}

// The fields of the report, separated by zero bytes.
void report(std::string_view bytes) {
  const auto next = [&] {
    const std::string_view field = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(field.size() + 1, bytes.size()));
    return field;
  };
  const FailureReport failure{
      .error_type = next(), .error_message = next(), .stack_trace = next(), .fingerprint = next()};
  const DeadMessage message{.failure = failure, .source_queue = "q", .body = bytes};
  const Fingerprint print = fingerprint(message);
  assert(print.title.size() <= kTitleBytesMax && !print.title.empty());
  assert(fingerprint(message).id == print.id);
  fingerprint({.source_queue = "q", .body = bytes});
}

void body(std::string_view bytes) {
  auto counts = FeatureCounts::with_names();
  for (int i = 0; i < 5; ++i) counts.add({.body = bytes, .attributes = kAttributes});
  assert(*FeatureCounts::decode(counts.encode()) == counts);
  FeatureCounts processed;
  for (int i = 0; i < 9; ++i) processed.add({.body = "{}", .attributes = {}});
  rank(counts, processed, 5);
  assert(mask_secrets(bytes, {.bytes_max = 100}).size() <= 100);
}

// The part before the first zero byte is the patch, the rest the document.
void patch(std::string_view text) {
  const std::size_t zero = std::min(text.find('\0'), text.size());
  const auto parsed = JsonPatch::parse(text.substr(0, zero));
  if (!parsed) return;
  const auto changed = parsed->apply(text.substr(std::min(zero + 1, text.size())));
  if (!changed) return;
  assert(changed->size() <= JsonPatch::kDocumentBytesMax);
  assert(check_json(*changed, JsonPatch::kDepthMax));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr void (*kTargets[])(std::string_view) = {filter, stored_counts, report, body, patch};
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  kTargets[data[0] % std::size(kTargets)](rest);
  return 0;
}
