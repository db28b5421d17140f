// STS: the identity of the caller.

#include <fmt/format.h>

#include "aws/iam/call.h"

namespace redrive::iam {

// On a server without keys every caller is the account's root.
Outcome<CallerIdentityOutput> get_caller_identity(Call& call, const NoInput&) {
  const auth::AccessKey* const key = call.caller().key;
  const std::string root = fmt::format("arn:aws:iam::{}:root", call.account());
  return CallerIdentityOutput{.arn = call.keep(key != nullptr ? key->arn() : root),
                              .user_id = call.keep(key != nullptr ? key->id : call.account()),
                              .account = call.account()};
}

// Keys come from the configuration only; none are issued on request.
Outcome<void> refuse_to_assume(Call&, const NoInput&) {
  return refuse(403,
                "AccessDenied",
                "Redrive does not issue temporary credentials. Sign with an access key of the "
                "server's configuration.");
}

}  // namespace redrive::iam
