// Arbitrary text as any queue attribute: set or refused, never a crash; and what was set is
// reported as a text that sets the same again. An accepted policy also survives AddPermission and
// RemovePermission. The first byte chooses the attribute, its highest bit the kind of queue.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aws/sqs/model/policy_document.h"
#include "aws/sqs/queue_attributes.h"

namespace {

using namespace redrive;

constexpr std::uint8_t kFifo = 0x80;
constexpr std::string_view kLabel = "fuzz-label";

void require(bool holds) {
  if (!holds) std::abort();
}

void check_policy(const std::string& policy) {
  constexpr std::array<std::string_view, 1> kAccounts = {"111111111111"};
  constexpr std::array<std::string_view, 2> kActions = {"SendMessage", "ReceiveMessage"};
  const std::string longer =
      sqs::policy_with(policy, {kLabel, "arn:aws:sqs:us-east-1:0:q", kAccounts, kActions});
  require(sqs::is_policy(longer) && sqs::policy_has_statement(longer, kLabel));
  const std::string shorter = sqs::policy_without(longer, kLabel);
  require(shorter.empty() || sqs::is_policy(shorter));
  require(!sqs::policy_has_statement(shorter, kLabel));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& names = sqs::settable_attributes();
  const std::string_view name = names[(data[0] & ~kFifo) % names.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  queue::QueueSettings before;
  if (data[0] & kFifo) before.fifo.emplace();

  const auto once = sqs::apply_attributes(before, {{name, text}}, sqs::AttributeUse::change);
  if (!once) return 0;
  const auto reported = sqs::attribute_text(*once, name);
  if (reported) {
    const auto again =
        sqs::apply_attributes(before, {{name, *reported}}, sqs::AttributeUse::change);
    require(again && *again == *once);
  }
  if (!once->policy.empty()) check_policy(once->policy);
  return 0;
}
