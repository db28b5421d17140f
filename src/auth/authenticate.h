#pragma once

#include "auth/access_key.h"
#include "auth/sigv4.h"

namespace redrive::auth {

// Whose request this is: finds the key that the request claims and proves the signature with it.
// Errors are those of claim_of and verify, and invalid_client_token_id for a key nobody declared.
Result<const AccessKey*> authenticate(const KeyRing& keys, const RequestParts& request,
                                      const Expectation& expectation);

}  // namespace redrive::auth
