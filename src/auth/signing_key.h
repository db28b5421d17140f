#pragma once

#include <string_view>

#include "auth/credential.h"
#include "base/digest.h"

namespace redrive::auth {

// The key that signs one day's requests for one region and service: four HMACs over the secret.
//
// Each thread remembers the keys it derived last, since a client's requests differ only after
// midnight. A remembered key counts only for the secret it came from, so a rotated secret cannot
// keep its old signatures alive. What is returned is good until this thread's next call.
const HmacSha256Key& signing_key(const Scope& scope, std::string_view secret_key);

}  // namespace redrive::auth
