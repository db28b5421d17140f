#pragma once

#include <string_view>
#include <vector>

#include "auth/access_key.h"
#include "s3/call.h"

namespace redrive::s3 {

struct S3Route {
  std::size_t action;  // Of s3_action_names().
  auth::Right right;
  Outcome<Answer> (*run)(Call& call);
};

// What this room does, as S3 calls it.
std::vector<std::string_view> s3_action_names();

// What a request asks for, or 501 for what archive buckets do not do.
Outcome<S3Route> find_s3_route(const Call& call);

}  // namespace redrive::s3
