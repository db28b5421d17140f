#pragma once

#include <string>
#include <string_view>

namespace redrive::sqs {

// The input of a policy decision.
struct PolicyQuestion {
  std::string_view action;          // SendMessage
  std::string_view resource;        // The queue's ARN.
  std::string_view caller_account;  // Twelve digits.
  std::string_view caller_arn;      // arn:aws:iam::account:user/name
  std::string_view source_ip;
  bool secure = false;  // The request came over TLS.
};

enum class PolicyVerdict { silent, allow, deny };

// Evaluates the Policy attribute of a queue: a matching Deny wins, else a matching Allow.
//
// Understood: Effect, Principal and NotPrincipal (AWS, *), Action and NotAction, Resource and
// NotResource with wildcards, and conditions on aws:SecureTransport, aws:SourceIp,
// aws:PrincipalAccount and aws:PrincipalArn. Unknown parts are treated as a denial: a
// statement with one allows nothing, but still denies.
PolicyVerdict evaluate_policy(std::string_view policy, const PolicyQuestion& question);

}  // namespace redrive::sqs
