#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/padded_text.h"

namespace redrive::http {

struct Header {
  std::string_view name;   // As received; compare with iequals.
  std::string_view value;  // Trimmed.
};

inline constexpr std::size_t kBodyPadding = kTextPadding;

// A parsed request. Views point into the connection's buffer and are valid until the handler
// replies, or returns after deferring.
struct Request {
  std::string_view method;
  std::string_view target;  // path?query as received.
  std::string_view path;    // Not decoded.
  std::string_view query;   // Without '?', not decoded.
  std::vector<Header> headers;
  std::string_view body;  // De-chunked. At least kBodyPadding readable bytes follow it.
  bool keep_alive = true;
  bool ascii = true;      // No header value contains a non-ASCII byte.
  bool secure = false;    // Received over TLS.
  std::string_view host;  // host:port of this server: from an absolute-form target, else Host.
  std::string_view peer;  // Client address without port.

  // The first header with this name (case-insensitive); empty when absent.
  std::string_view header(std::string_view name) const;
  // The body for parsers that read ahead.
  PaddedView padded_body() const { return PaddedView::guaranteed(body); }
};

// A response without its body. The caller guarantees that values contain no line breaks.
struct ResponseHead {
  int status = 200;
  std::string_view content_type;  // Empty: no Content-Type header.
  std::span<const Header> headers;
  bool keep_alive = true;
};

// Begins a response in `out` whose body length is not known yet, and returns the position of its
// Content-Length for end_response, which fills it in. In between, the caller appends the body to
// `out`. Statuses without a body (1xx, 204, 304) get no Content-Length.
//
// Ten digits are reserved for the length; end_response removes those not needed by moving the body.
// That costs an in-cache copy, and the wire shows a plain number without padding.
std::size_t begin_response(std::string& out, const ResponseHead& head);
void end_response(std::string& out, std::size_t length_at);

std::string_view reason_phrase(int status);

}  // namespace redrive::http
