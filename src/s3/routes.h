#pragma once

#include <string_view>
#include <vector>

#include "auth/access_key.h"
#include "s3/call.h"

namespace redrive::s3 {

struct S3Route {
  std::size_t action;     // Of s3_action_names().
  std::string_view name;  // The same.
  auth::Right right;
  Outcome<Answer> (*run)(Call& call);
};

// What this room does, as S3 calls it.
std::vector<std::string_view> s3_action_names();

// One action as tests and documentation see it.
struct S3Action {
  std::string_view name;
  std::string_view permission;  // What IAM calls the right to it: `s3:ListBucket`.
  auth::Right right;
  std::string_view method;
  bool of_object = false;
  std::string_view sub_resource = {};
};
std::vector<S3Action> s3_actions();
// What IAM calls the right to an action.
std::string_view s3_permission(std::string_view action);

// What a request asks for, or 501 for what archive buckets do not do.
Outcome<S3Route> find_s3_route(const Call& call);

}  // namespace redrive::s3
