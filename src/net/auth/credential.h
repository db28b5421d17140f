#pragma once

#include <optional>
#include <string_view>

namespace redrive::auth {

// Which key signed a request, and for what: `key/20260101/us-east-1/sqs/aws4_request` without the
// constant suffix. The views point into the text passed to scope_of.
struct Scope {
  std::string_view access_key;
  std::string_view date;
  std::string_view region;
  std::string_view service;

  bool operator==(const Scope&) const = default;
};

// The request's claimed scope: from the Authorization header or, without one, from X-Amz-Credential
// of a presigned query (not decoded, without '?').
//
// Runs for every request, signed or not, verified or not: it does not allocate and treats junk as
// an absent claim.
std::optional<Scope> scope_of(std::string_view authorization, std::string_view query);

// `key/date/region/service/aws4_request`, with '/' plain or as %2F.
std::optional<Scope> parse_scope(std::string_view credential);

}  // namespace redrive::auth
