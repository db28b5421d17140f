#include "front/access.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "aws/sqs/model/redrive_documents.h"
#include "core/engine/in_turns.h"
#include "net/wire/decoder.h"

namespace redrive::front {
namespace {

using auth::Right;
using queue::QueueIdentity;

constexpr std::size_t kGroupsPerTurn = 64;
constexpr std::size_t kSourcesPerTurn = 256;

constexpr bool kShareable = true;
constexpr bool kOwnersOnly = false;

constexpr std::array kRules = {
    Operation{"sqs:SendMessage", Right::send, kShareable},
    Operation{"sqs:SendMessageBatch", Right::send, kShareable, {"sqs:SendMessage"}},
    Operation{"sqs:ReceiveMessage", Right::consume, kShareable},
    Operation{"sqs:DeleteMessage", Right::consume, kShareable},
    Operation{"sqs:DeleteMessageBatch", Right::consume, kShareable, {"sqs:DeleteMessage"}},
    Operation{"sqs:ChangeMessageVisibility", Right::consume, kShareable},
    Operation{"sqs:ChangeMessageVisibilityBatch",
              Right::consume,
              kShareable,
              {"sqs:ChangeMessageVisibility"}},
    Operation{"sqs:GetQueueUrl", Right::find, kShareable},
    Operation{"sqs:GetQueueAttributes", Right::find, kShareable},
    Operation{"sqs:ListQueues", Right::find, kOwnersOnly},
    Operation{"sqs:ListDeadLetterSourceQueues", Right::look, kShareable},
    Operation{"sqs:ListQueueTags", Right::look, kOwnersOnly},
    Operation{"sqs:ListMessageMoveTasks", Right::look, kOwnersOnly},
    Operation{"sqs:PurgeQueue", Right::operate, kShareable},
    Operation{"sqs:SetQueueAttributes", Right::operate, kOwnersOnly},
    Operation{"sqs:TagQueue", Right::operate, kOwnersOnly},
    Operation{"sqs:UntagQueue", Right::operate, kOwnersOnly},
    Operation{"sqs:StartMessageMoveTask", Right::operate, kOwnersOnly},
    Operation{"sqs:CancelMessageMoveTask", Right::operate, kOwnersOnly},
    Operation{"sqs:CreateQueue", Right::administer, kOwnersOnly},
    Operation{"sqs:DeleteQueue", Right::administer, kOwnersOnly},
    Operation{"sqs:AddPermission", Right::administer, kOwnersOnly},
    Operation{"sqs:RemovePermission", Right::administer, kOwnersOnly},
};

constexpr std::string_view action_of(const Operation& operation) {
  return operation.name.substr(std::string_view("sqs:").size());
}

constexpr bool every_action_has_a_rule() {
  for (const std::string_view name : sqs::AllActions::kNames) {
    if (std::ranges::find(kRules, name, action_of) == kRules.end()) return false;
  }
  return kRules.size() == sqs::AllActions::kSize;
}
static_assert(every_action_has_a_rule());

}  // namespace

Operation sqs_operation(std::string_view action) {
  const auto found = std::ranges::find(kRules, action, action_of);
  assert(found != kRules.end());
  return *found;
}

std::optional<QueueIdentity> dead_letter_target_of(const sqs::StringMap& attributes) {
  const auto policy = std::ranges::find(
      attributes, "RedrivePolicy", [](const auto& attribute) { return attribute.first; });
  if (policy == attributes.end()) return std::nullopt;
  std::string padded(policy->second);
  padded.reserve(padded.size() + 64);
  wire::Decoder decoder;
  sqs::RedrivePolicyDocument document;
  if (!wire::decode_json(decoder, padded, document)) return std::nullopt;
  return identity_from_arn(document.dead_letter_target_arn.value_or(""));
}

std::vector<QueueIdentity> redrive_sources(engine::Engine& engine, std::string_view arn) {
  std::vector<QueueIdentity> sources;
  const auto copy_some = [&](engine::Turn& turn) {
    const auto& all = turn.state().sources_of(arn);
    auto at = sources.empty() ? all.begin() : all.upper_bound(sources.back());
    for (std::size_t i = 0; i < kSourcesPerTurn && at != all.end(); ++i, ++at) {
      sources.push_back(*at);
      turn.state().count_work(1);
    }
    return at != all.end();
  };
  while (engine.turn(copy_some)) engine.give_way();
  return sources;
}

std::vector<QueueIdentity> dead_letter_sources(engine::Engine& engine, std::string_view arn) {
  std::vector<QueueIdentity> sources = redrive_sources(engine, arn);
  engine::visit_in_turns(
      engine,
      &queue::State::groups,
      kGroupsPerTurn,
      [&](engine::Turn& turn, queue::FailureGroupKey, const queue::FailureGroup& group) {
        const queue::Queue* const queue = turn.state().find(group.queue);
        if (queue == nullptr || queue->identity.arn() != arn) return;
        for (const queue::NameIndex name : group.arrivals.sources) {
          auto source = identity_from_arn(turn.state().name(name));
          if (source) sources.push_back(*std::move(source));
        }
      });
  std::ranges::sort(sources);
  sources.erase(std::ranges::unique(sources).begin(), sources.end());
  return sources;
}

Result<void> authorize_sources(engine::Engine& engine, const Caller& caller, std::string_view arn) {
  if (caller.key == nullptr) return {};
  for (const QueueIdentity& source : dead_letter_sources(engine, arn)) {
    RETURN_IF_ERROR(authorize(engine, caller, kSendToQueue, resource_of(source)));
  }
  return {};
}

}  // namespace redrive::front
