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

// The parts of a request that a signature covers, as they travel: path and query not decoded.
struct RequestParts {
  std::string_view method;
  std::string_view path;
  std::string_view query;  // Without '?'.
  std::span<const HeaderField> headers;
  std::string_view body;
};

// The first header of that name, in any case; a null view when absent.
std::string_view header_of(const RequestParts& request, std::string_view name);

struct CanonicalChoices {
  std::span<const std::string_view> signed_headers;  // Lower case, in the order that was signed.
  std::string_view signed_list;                      // The same as one text, `a;b;c`.
  std::string_view payload_hash;
  std::string_view service;  // S3 encodes paths once, everybody else twice.
};

// The text whose digest is signed. Both sides of a connection build it from what travelled, so that
// equal texts mean an untouched request.
std::string canonical_request(const RequestParts& request, const CanonicalChoices& choices);

}  // namespace redrive::auth
