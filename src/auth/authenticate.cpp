#include "auth/authenticate.h"

namespace redrive::auth {

Result<const AccessKey*> authenticate(const KeyRing& keys, const RequestParts& request,
                                      const Expectation& expectation) {
  const Claim claim = TRY(claim_of(request));
  const AccessKey* key = keys.find(claim.scope.access_key);
  // Keys of ours are for good: a session token was given out by somebody else.
  if (key == nullptr || !claim.session_token.empty()) {
    return fail(ErrorCode::invalid_client_token_id,
                "The security token included in the request is invalid.");
  }
  CHECK(verify(request, claim, key->secret, expectation));
  return key;
}

}  // namespace redrive::auth
