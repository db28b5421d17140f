#include "aws/sqs/access.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "aws/sqs/model/redrive_documents.h"
#include "base/padded_text.h"
#include "net/wire/decoder.h"

namespace redrive::sqs {
namespace {

using auth::Right;
using queue::QueueIdentity;

constexpr bool kShareable = true;
constexpr bool kOwnersOnly = false;

constexpr std::array kRules = {
    front::Operation{"sqs:SendMessage", Right::send, kShareable},
    front::Operation{"sqs:SendMessageBatch", Right::send, kShareable, {"sqs:SendMessage"}},
    front::Operation{"sqs:ReceiveMessage", Right::consume, kShareable},
    front::Operation{"sqs:DeleteMessage", Right::consume, kShareable},
    front::Operation{"sqs:DeleteMessageBatch", Right::consume, kShareable, {"sqs:DeleteMessage"}},
    front::Operation{"sqs:ChangeMessageVisibility", Right::consume, kShareable},
    front::Operation{"sqs:ChangeMessageVisibilityBatch",
                     Right::consume,
                     kShareable,
                     {"sqs:ChangeMessageVisibility"}},
    front::Operation{"sqs:GetQueueUrl", Right::find, kShareable},
    front::Operation{"sqs:GetQueueAttributes", Right::find, kShareable},
    front::Operation{"sqs:ListQueues", Right::find, kOwnersOnly},
    front::Operation{"sqs:ListDeadLetterSourceQueues", Right::look, kShareable},
    front::Operation{"sqs:ListQueueTags", Right::look, kOwnersOnly},
    front::Operation{"sqs:ListMessageMoveTasks", Right::look, kOwnersOnly},
    front::Operation{"sqs:PurgeQueue", Right::operate, kShareable},
    front::Operation{"sqs:SetQueueAttributes", Right::operate, kOwnersOnly},
    front::Operation{"sqs:TagQueue", Right::operate, kOwnersOnly},
    front::Operation{"sqs:UntagQueue", Right::operate, kOwnersOnly},
    front::Operation{"sqs:StartMessageMoveTask", Right::operate, kOwnersOnly},
    front::Operation{"sqs:CancelMessageMoveTask", Right::operate, kOwnersOnly},
    front::Operation{"sqs:CreateQueue", Right::administer, kOwnersOnly},
    front::Operation{"sqs:DeleteQueue", Right::administer, kOwnersOnly},
    front::Operation{"sqs:AddPermission", Right::administer, kOwnersOnly},
    front::Operation{"sqs:RemovePermission", Right::administer, kOwnersOnly},
};

constexpr std::string_view action_of(const front::Operation& operation) {
  return operation.name.substr(std::string_view("sqs:").size());
}

constexpr bool every_action_has_a_rule() {
  for (const std::string_view name : AllActions::kNames) {
    if (std::ranges::find(kRules, name, action_of) == kRules.end()) return false;
  }
  return kRules.size() == AllActions::kSize;
}
static_assert(every_action_has_a_rule());

}  // namespace

front::Operation sqs_operation(std::string_view action) {
  const auto found = std::ranges::find(kRules, action, action_of);
  assert(found != kRules.end());
  return *found;
}

std::optional<QueueIdentity> dead_letter_target_of(const StringMap& attributes) {
  const auto policy = std::ranges::find(
      attributes, "RedrivePolicy", [](const auto& attribute) { return attribute.first; });
  if (policy == attributes.end()) return std::nullopt;
  const PaddedText padded(policy->second);
  wire::Decoder decoder;
  RedrivePolicyDocument document;
  if (!wire::decode_json(decoder, padded, document)) return std::nullopt;
  return front::identity_from_arn(document.dead_letter_target_arn.value_or(""));
}

}  // namespace redrive::sqs
