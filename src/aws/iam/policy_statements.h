#pragma once

#include <string_view>
#include <vector>

#include "net/auth/access_key.h"

// The statements of identity policies, in the form that keys carry them.
namespace redrive::iam {

// The statements of a policy document that belongs to a role.
//
// Understood: Effect, Action and NotAction, Resource and NotResource, with the wildcards * and ?.
// Whatever is not understood (a Condition, a policy variable ${...}, a Principal, an unknown
// member) denies: an Allow with it is left out, a Deny with it is kept without it. Pure.
std::vector<auth::Statement> statements_of(std::string_view document);

// What a policy of AWS (arn:aws:iam::aws:policy/...) says about the services that Redrive has. One
// that is not known here grants nothing.
std::vector<auth::Statement> aws_managed_statements(std::string_view arn);

}  // namespace redrive::iam
