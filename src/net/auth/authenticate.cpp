#include "net/auth/authenticate.h"

namespace redrive::auth {

Result<const AccessKey*> authenticate(const KeyRing& keys, const RequestParts& request,
                                      const Expectation& expectation) {
  const Claim claim = TRY(claim_of(request));
  const AccessKey* key = keys.find(claim.scope.access_key);
  // Our keys are long-lived; a session token was issued by another service.
  if (key == nullptr || !claim.session_token.empty()) {
    return fail(ErrorCode::invalid_client_token_id,
                "The security token included in the request is invalid.");
  }
  RETURN_IF_ERROR(verify(request, claim, key->secret, expectation));
  return key;
}

}  // namespace redrive::auth
