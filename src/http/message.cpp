#include "http/message.h"

#include <cassert>
#include <charconv>
#include <cstring>

#include "base/text.h"

namespace redrive::http {

namespace {

// Room for Content-Length while the body is still being written. Ten digits are more than any
// response needs; end_response closes the gap, so that the wire shows a plain number.
constexpr std::string_view kLengthRoom = "0000000000";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
// The mark of a response that must not carry a Content-Length.
constexpr std::size_t kNoLength = std::string::npos;

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
    if (header.name.size() == name.size() && iequals(header.name, name)) return header.value;
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
  const std::size_t mark = out.size();
  out.append(kLengthRoom).append(kHeadEnd);
  return mark;
}

void end_response(std::string& out, std::size_t mark) {
  if (mark == kNoLength) {
    assert(out.ends_with(kHeadEnd));  // A status without a body was given one.
    return;
  }
  const std::size_t head_end = mark + kLengthRoom.size();
  const std::size_t body_begin = head_end + kHeadEnd.size();
  assert(out.size() >= body_begin);
  char* const digits = out.data() + mark;
  const auto [end, error] =
      std::to_chars(digits, digits + kLengthRoom.size(), out.size() - body_begin);
  assert(error == std::errc());
  const std::size_t tail = out.size() - head_end;
  std::memmove(end, out.data() + head_end, tail);
  out.resize(static_cast<std::size_t>(end - out.data()) + tail);
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace redrive::http
