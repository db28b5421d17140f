// STS: who asks.

#include <fmt/format.h>

#include "aws/iam/call.h"

namespace redrive::iam {

// On a server without keys everybody is the account's root.
Outcome<void> get_caller_identity(Call& call) {
  const auth::AccessKey* const key = call.caller.key;
  call.out.text("Arn",
                key != nullptr ? key->arn() : fmt::format("arn:aws:iam::{}:root", call.account()));
  call.out.text("UserId", key != nullptr ? key->id : call.account());
  call.out.text("Account", call.account());
  return {};
}

// Keys are what the operator wrote into the configuration; none are made on request.
Outcome<void> refuse_to_assume(Call&) {
  return refuse(403,
                "AccessDenied",
                "Redrive does not issue temporary credentials. Sign with an access key of the "
                "server's configuration.");
}

}  // namespace redrive::iam
