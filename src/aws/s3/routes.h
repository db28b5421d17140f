#pragma once

#include <string_view>
#include <vector>

#include "aws/s3/call.h"
#include "net/auth/access_key.h"

namespace redrive::s3 {

struct S3Route {
  std::string_view name;
  auth::Right right;
  Outcome<Answer> (*run)(Call& call);
};

// The actions, with S3's names.
std::vector<std::string_view> s3_action_names();

// One action as tests and documentation see it.
struct S3Action {
  std::string_view name;
  std::string_view permission;  // The IAM permission: `s3:ListBucket`.
  auth::Right right;
  std::string_view method;
  bool of_object = false;
  std::string_view sub_resource = {};
};
std::vector<S3Action> s3_actions();
// The IAM permission of an action.
std::string_view s3_permission(std::string_view action);

// The action of a request, an index of s3_action_names(); 501 if it is not supported.
Outcome<std::size_t> find_s3_action(std::string_view method, const Address& address,
                                    const Parameters& parameters);
S3Route s3_route(std::size_t action);

}  // namespace redrive::s3
