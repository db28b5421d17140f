// Reads and sets the policies of dead-letter queues.

#include "core/catalogue/queues.h"
#include "dead_letters/policy/policy_check.h"
#include "front/dead_letter_sources.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

using engine::Turn;
using queue::DeadLetterPolicy;

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
  const auto then = dead_letters::then_called(input.then.value_or("park"));
  if (!then) {
    return fail(ErrorCode::invalid_parameter_value, "`then` is `park`, `discard` or `archive`.");
  }
  policy.then = *then;
  RETURN_IF_ERROR(dead_letters::check_policy(policy));
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
  out.then = dead_letters::name_of(policy->then);
  if (!policy->archive.empty()) out.archive = call.keep(policy->archive);
  return out;
}

Result<documents::Policy> change_policy(Call& call, std::optional<DeadLetterPolicy> policy) {
  const queue::QueueIdentity identity = call.queue("queue");
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Policy> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    queue::QueueSettings settings = queue.settings;
    settings.dead_letters = std::move(policy);
    catalogue::change_settings(turn, queue, settings);
    return describe_policy(call,
                           call.parts.dead_letters.policy_book.of(queue),
                           queue.settings.dead_letters.has_value());
  });
}

// The policy puts objects into the archive's bucket on behalf of its author.
Result<void> check_archive(const Call& call, const DeadLetterPolicy& policy) {
  if (policy.archive.empty()) return {};
  return front::authorize_objects(call.caller,
                                  front::kPutObject,
                                  policy.archive.substr(0, policy.archive.find('/')),
                                  call.parts.bucket_owner);
}

}  // namespace

Result<documents::Policy> show_policy(Call& call) {
  const queue::QueueIdentity identity = call.queue("queue");
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Policy> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    return describe_policy(call,
                           call.parts.dead_letters.policy_book.of(queue),
                           queue.settings.dead_letters.has_value());
  });
}

Result<documents::Policy> set_policy(Call& call, const documents::Policy& input) {
  DeadLetterPolicy policy = TRY(policy_from(input));
  RETURN_IF_ERROR(check_archive(call, policy));
  // Automatic redrives run on behalf of the author of the policy.
  if (policy.redrive_after.count() > 0) {
    RETURN_IF_ERROR(
        front::authorize_sources(call.parts.engine, call.caller, call.queue("queue").arn()));
  }
  return change_policy(call, std::move(policy));
}

Result<documents::Policy> remove_policy(Call& call) {
  return change_policy(call, std::nullopt);
}

}  // namespace redrive::manage
