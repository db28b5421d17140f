#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::auth {

struct HeaderField {
  std::string_view name;
  std::string_view value;
};

// The parts of a request that a signature covers, as sent: path and query not decoded.
struct RequestParts {
  std::string_view method;
  std::string_view path;
  std::string_view query;  // Without '?'.
  std::span<const HeaderField> headers;
  std::string_view body;
};

// The first header with this name (case-insensitive); a null view when absent.
std::string_view header_of(const RequestParts& request, std::string_view name);

struct CanonicalChoices {
  std::span<const std::string_view> signed_headers;  // Lower case, in the order signed.
  std::string_view signed_list;                      // The same as one string, `a;b;c`.
  std::string_view payload_hash;
  std::string_view service;  // S3 encodes paths once, all other services twice.
};

// The string whose digest is signed. Client and server both build it from the request as sent, so
// equal strings mean an unmodified request.
std::string canonical_request(const RequestParts& request, const CanonicalChoices& choices);

}  // namespace redrive::auth
