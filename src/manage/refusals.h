#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "front/refusal.h"
#include "front/request_context.h"
#include "net/http/answer.h"

// Errors of the management API. Its codes are those of SQS where SQS has one.

namespace redrive::manage {

front::Refusal refusal_of(const Error& error);
std::string_view code_of(const Error& error);
front::Refusal no_such_path(std::string_view path);
front::Refusal too_many_sign_ins();
front::Refusal method_not_allowed(std::string_view method, std::string allowed);

// {"error": {"code": "...", "message": "..."}}
http::Answer encode_refusal(const front::RequestContext& context, const front::Refusal& refusal);

}  // namespace redrive::manage
