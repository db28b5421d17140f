#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::http {

struct Header {
  std::string_view name;   // As received; compare with iequals.
  std::string_view value;  // Trimmed.
};

// A parsed request. Views point into the connection's buffer and live until the handler answers or
// returns after deferring.
struct Request {
  std::string_view method;
  std::string_view target;  // As received: path?query.
  std::string_view path;    // Not decoded.
  std::string_view query;   // Without '?', not decoded.
  std::vector<Header> headers;
  std::string_view body;  // De-chunked. At least kBodyPadding readable bytes follow it.
  bool keep_alive = true;
  bool ascii = true;      // No header value has a byte beyond ASCII.
  bool secure = false;    // Came through TLS.
  std::string_view host;  // host:port as the client calls us: of an absolute target, else Host.
  std::string_view peer;  // The other side's address, without port.

  // The first header of that name, in any case; empty when absent.
  std::string_view header(std::string_view name) const;
};

inline constexpr std::size_t kBodyPadding = 64;  // simdjson reads ahead.

// A response but for its body. Values hold no line breaks: that is the caller's promise.
struct ResponseHead {
  int status = 200;
  std::string_view content_type;  // None when empty.
  std::span<const Header> headers;
  bool keep_alive = true;
};

// Begins a response in `out` whose body length is not yet known, and returns a mark for
// end_response, which fills in Content-Length. Between the two the caller appends the body to
// `out`. Statuses that have no body (1xx, 204, 304) get no Content-Length.
//
// The length has room for ten digits; end_response moves the body up to the last of them that is
// used. That costs a copy in cache and keeps the head as any other server writes it.
std::size_t begin_response(std::string& out, const ResponseHead& head);
void end_response(std::string& out, std::size_t mark);

std::string_view reason_phrase(int status);

}  // namespace redrive::http
