#pragma once

#include "net/auth/access_key.h"
#include "net/auth/sigv4.h"

namespace redrive::auth {

// Authenticates a request: finds the key that it claims and verifies its signature. Fails like
// claim_of and verify, and with invalid_client_token_id for an unknown key.
Result<const AccessKey*> authenticate(const KeyRing& keys, const RequestParts& request,
                                      const Expectation& expectation);

}  // namespace redrive::auth
