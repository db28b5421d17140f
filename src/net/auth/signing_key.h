#pragma once

#include <string_view>

#include "base/digest.h"
#include "net/auth/credential.h"

namespace redrive::auth {

// The key that signs one day's requests for one region and service: four HMACs over the secret.
//
// Each thread caches the keys it derived most recently, since a client's requests use the same key
// until midnight. A cached key is used only for the secret it was derived from, so old signatures
// do not survive a rotated secret. The result is valid until this thread's next call.
const HmacSha256Key& signing_key(const Scope& scope, std::string_view secret_key);

}  // namespace redrive::auth
