#pragma once

#include "auth/access_key.h"
#include "s3/call.h"

namespace redrive::s3 {

struct S3Route {
  auth::Right right;
  Outcome<Answer> (*run)(Call& call);
};

// What a request asks for, or 501 for what archive buckets do not do.
Outcome<S3Route> find_s3_route(const Call& call);

}  // namespace redrive::s3
