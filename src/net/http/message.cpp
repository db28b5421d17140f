#include "net/http/message.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <iterator>

#include "base/text.h"

namespace redrive::http {

namespace {

// Placeholder for Content-Length while the body is being written. Ten digits exceed any response;
// end_response removes the unused ones.
constexpr std::string_view kLengthPlaceholder = "0000000000";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
// Returned by begin_response for a status that must not have a Content-Length.
constexpr std::size_t kNoLength = std::string::npos;

// RFC 9110 section 15: the statuses used here.
struct Reason {
  int status;
  std::string_view phrase;
};
constexpr Reason kReasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

void append_status_line(std::string& out, int status) {
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
    return;
  }
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, status);
  assert(error == std::errc());
  out.append("HTTP/1.1 ").append(digits, end).append(" ");
  out.append(reason_phrase(status)).append("\r\n");
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (iequals(header.name, name)) return header.value;
  }
  return {};
}

std::size_t begin_response(std::string& out, const ResponseHead& head) {
  append_status_line(out, head.status);
  if (!head.content_type.empty()) append_header(out, "Content-Type", head.content_type);
  for (const Header& header : head.headers) append_header(out, header.name, header.value);
  if (!head.keep_alive) out.append("Connection: close\r\n");
  if (has_no_body(head.status)) {
    out.append("\r\n");
    return kNoLength;
  }
  out.append("Content-Length: ");
  const std::size_t length_at = out.size();
  out.append(kLengthPlaceholder).append(kHeadEnd);
  return length_at;
}

void end_response(std::string& out, std::size_t length_at) {
  if (length_at == kNoLength) {
    assert(out.ends_with(kHeadEnd));  // A status without a body must not have one appended.
    return;
  }
  const std::size_t head_end = length_at + kLengthPlaceholder.size();
  const std::size_t body_begin = head_end + kHeadEnd.size();
  assert(out.size() >= body_begin);
  char* const digits = out.data() + length_at;
  const auto [end, error] =
      std::to_chars(digits, digits + kLengthPlaceholder.size(), out.size() - body_begin);
  assert(error == std::errc());
  const std::size_t tail = out.size() - head_end;
  std::memmove(end, out.data() + head_end, tail);
  out.resize(static_cast<std::size_t>(end - out.data()) + tail);
}

std::string_view reason_phrase(int status) {
  const auto* const found = std::ranges::find(kReasons, status, &Reason::status);
  return found == std::end(kReasons) ? "Unknown" : found->phrase;
}

}  // namespace redrive::http
