// What dead-letter queues do by themselves, set and told.

#include "queue/settings.h"

#include "manage/operations.h"

namespace redrive::manage {
namespace {

using engine::Turn;
using queue::DeadLetterPolicy;

constexpr std::pair<std::string_view, DeadLetterPolicy::Then> kThens[] = {
    {"park", DeadLetterPolicy::Then::park},
    {"discard", DeadLetterPolicy::Then::discard},
    {"archive", DeadLetterPolicy::Then::archive},
};
constexpr std::size_t kArchiveBytesMax = 512;

std::unexpected<Error> refuse_policy(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

Result<DeadLetterPolicy> policy_from(const documents::Policy& input) {
  DeadLetterPolicy policy;
  policy.redrives_max = static_cast<std::uint32_t>(input.max_redrives.value_or(0));
  policy.redrive_after = std::chrono::seconds(input.redrive_after_seconds.value_or(0));
  policy.backoff_rate =
      static_cast<std::uint32_t>(input.backoff_rate.value_or(policy.backoff_rate));
  policy.redrive_after_max = std::chrono::seconds(
      input.max_redrive_after_seconds.value_or(policy.redrive_after_max.count()));
  policy.archive_expiring = input.archive_expiring.value_or(false);
  policy.archive = input.archive.value_or("");
  const std::string_view then = input.then.value_or("park");
  bool known = false;
  for (const auto& [name, value] : kThens) {
    if (name != then) continue;
    policy.then = value;
    known = true;
  }
  if (!known) return refuse_policy("`then` is `park`, `discard` or `archive`.");
  const bool archives = policy.archive_expiring || policy.then == DeadLetterPolicy::Then::archive;
  if (archives && policy.archive.empty())
    return refuse_policy("Say where the `archive` is: bucket/prefix.");
  if (policy.archive.size() > kArchiveBytesMax) return refuse_policy("`archive` is too long.");
  if (policy.redrive_after.count() > 0 && policy.redrives_max == 0) {
    return refuse_policy(
        "A queue that redrives by itself needs `maxRedrives`: without it a message that cannot be "
        "processed would go to and fro for ever.");
  }
  return policy;
}

documents::Policy describe_policy(Call& call, const DeadLetterPolicy* policy, bool own) {
  if (policy == nullptr) return {.source = "none"};
  documents::Policy out{.max_redrives = policy->redrives_max,
                        .redrive_after_seconds = policy->redrive_after.count(),
                        .backoff_rate = policy->backoff_rate,
                        .max_redrive_after_seconds = policy->redrive_after_max.count(),
                        .archive_expiring = policy->archive_expiring,
                        .source = own ? "queue" : "configuration"};
  for (const auto& [name, value] : kThens) {
    if (value == policy->then) out.then = name;
  }
  if (!policy->archive.empty()) out.archive = call.keep(policy->archive);
  return out;
}

Result<documents::Policy> change_policy(Call& call, std::optional<DeadLetterPolicy> policy) {
  const queue::QueueIdentity identity = TRY(call.queue("queue"));
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Policy> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    queue::QueueSettings settings = queue.settings;
    settings.dead_letters = std::move(policy);
    turn.commit(queue::QueueSettingsChanged{queue.key, settings});
    return describe_policy(
        call, call.parts.engine.policy_of(queue), queue.settings.dead_letters.has_value());
  });
}

}  // namespace

Result<documents::Policy> show_policy(Call& call) {
  const queue::QueueIdentity identity = TRY(call.queue("queue"));
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Policy> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    return describe_policy(
        call, call.parts.engine.policy_of(queue), queue.settings.dead_letters.has_value());
  });
}

Result<documents::Policy> set_policy(Call& call, const documents::Policy& input) {
  return change_policy(call, TRY(policy_from(input)));
}

Result<documents::Policy> remove_policy(Call& call) {
  return change_policy(call, std::nullopt);
}

}  // namespace redrive::manage
