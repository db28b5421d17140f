#include "aws/iam/entities.h"

#include <fmt/format.h>

namespace redrive::iam {

std::string role_arn(std::string_view account, const Role& role) {
  return fmt::format("arn:aws:iam::{}:role{}{}", account, role.path, role.name);
}

std::string policy_arn(std::string_view account, const Policy& policy) {
  return fmt::format("arn:aws:iam::{}:policy{}{}", account, policy.path, policy.name);
}

bool is_aws_managed(std::string_view arn) {
  constexpr std::string_view kPrefix = "arn:aws:iam::aws:policy/";
  return arn.starts_with(kPrefix) && arn.size() > kPrefix.size();
}

std::string_view name_of_arn(std::string_view arn) {
  return arn.substr(arn.rfind('/') + 1);
}

}  // namespace redrive::iam
