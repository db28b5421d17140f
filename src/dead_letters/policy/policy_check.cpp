#include "dead_letters/policy/policy_check.h"

#include <utility>

namespace redrive::dead_letters {
namespace {

using queue::DeadLetterPolicy;

constexpr std::pair<std::string_view, DeadLetterPolicy::Then> kThens[] = {
    {"park", DeadLetterPolicy::Then::park},
    {"discard", DeadLetterPolicy::Then::discard},
    {"archive", DeadLetterPolicy::Then::archive},
};
constexpr std::uint32_t kRedrivesMax = 1000;
constexpr std::uint32_t kBackoffRateMax = 100;
constexpr std::chrono::seconds kPauseMax{1'209'600};  // No message is kept for longer.
constexpr std::size_t kArchiveBytesMax = 512;

std::unexpected<Error> refuse_policy(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

bool is_pause(std::chrono::seconds pause) {
  return pause >= std::chrono::seconds(0) && pause <= kPauseMax;
}

}  // namespace

std::optional<DeadLetterPolicy::Then> then_called(std::string_view name) {
  for (const auto& [known, value] : kThens) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string_view name_of(DeadLetterPolicy::Then then) {
  for (const auto& [name, value] : kThens) {
    if (value == then) return name;
  }
  return "park";
}

Result<void> check_policy(const DeadLetterPolicy& policy) {
  if (policy.redrives_max > kRedrivesMax) {
    return refuse_policy("The maximum number of redrives must be at most 1000.");
  }
  if (policy.backoff_rate < 1 || policy.backoff_rate > kBackoffRateMax) {
    return refuse_policy("The backoff rate must be between 1 and 100.");
  }
  if (!is_pause(policy.redrive_after) || !is_pause(policy.redrive_after_max)) {
    return refuse_policy(
        "The time until a redrive must be at most 1209600 seconds (fourteen days).");
  }
  const bool archives = policy.archive_expiring || policy.then == DeadLetterPolicy::Then::archive;
  if (archives && policy.archive.empty())
    return refuse_policy("`archive` is required: bucket/prefix.");
  if (policy.archive.size() > kArchiveBytesMax) return refuse_policy("`archive` is too long.");
  if (policy.redrive_after.count() > 0 && policy.redrives_max == 0) {
    return refuse_policy(
        "Automatic redrives require a maximum number of redrives; otherwise a message that cannot "
        "be processed would be redriven forever.");
  }
  return {};
}

}  // namespace redrive::dead_letters
