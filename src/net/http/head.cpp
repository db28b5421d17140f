#include "net/http/head.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/text.h"
#include "net/http/scan.h"

namespace redrive::http {

namespace {

constexpr std::size_t kMethodBytesMax = 32;
constexpr std::string_view kVersionShape = "HTTP/d.d\r\n";

// No SQS request uses PUT or a path that starts with an API version date (2015-03-31). Such
// requests may carry objects or function code, so the larger body limit applies.
bool is_upload(const Request& request) {
  if (request.method == "PUT") return true;
  const std::string_view path = request.path;
  return request.method == "POST" && path.size() > 11 && path[5] == '-' && path[8] == '-' &&
         path[11] == '/';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// RFC 9110 section 7.2: host and port, without user information, and not a list of hosts.
bool is_authority(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_token_char(c) || c == ':' || c == '[' || c == ']' || c == '(' || c == ')' ||
           c == ';' || c == '=';
  });
}

// Parses one head into a Request. Each method continues at p_ and returns what parse_head would.
class HeadReader {
 public:
  HeadReader(std::string_view bytes, const Limits& limits, Request& request, Refusal& refusal)
      : begin_(bytes.data()),
        p_(bytes.data()),
        end_(bytes.data() + std::min(bytes.size(), limits.head_bytes_max)),
        limits_(limits),
        request_(request),
        refusal_(refusal) {}

  Step read();
  Head head() const { return head_; }

 private:
  Step skip_leading_line();
  Step read_request_line();
  Step read_method();
  Step read_target();
  Step read_version();
  Step split_target();
  Step read_fields();
  Step note(const Header& field);
  Step note_content_length(std::string_view value);
  Step note_transfer_encoding(std::string_view value);
  Step note_host(std::string_view value);
  void note_connection(std::string_view value);
  Step note_expect(std::string_view value);
  Step finish();
  Step refuse(int status, std::string_view reason) {
    return http::refuse(refusal_, status, reason);
  }

  const char* const begin_;
  const char* p_;
  const char* const end_;
  const Limits& limits_;
  Request& request_;
  Refusal& refusal_;
  Head head_;
  std::string_view authority_;  // From an absolute-form target.
  bool has_length_ = false;
  bool has_host_ = false;
  bool has_transfer_encoding_ = false;
  bool says_close_ = false;
  bool says_keep_alive_ = false;
  bool unknown_expectation_ = false;
};

Step HeadReader::read() {
  request_.headers.clear();
  request_.host = {};
  request_.ascii = true;
  for (const auto part : {&HeadReader::skip_leading_line,
                          &HeadReader::read_request_line,
                          &HeadReader::read_fields,
                          &HeadReader::finish}) {
    const Step step = (this->*part)();
    if (step == Step::done) continue;
    const bool full = static_cast<std::size_t>(end_ - begin_) == limits_.head_bytes_max;
    if (step == Step::need_more && full) return refuse(431, "The request head is too large.");
    return step;
  }
  return Step::done;
}

// RFC 9112 section 2.2: some clients send an empty line after a body, not counted by
// Content-Length.
Step HeadReader::skip_leading_line() {
  bool found = false;
  return parse_empty_line(p_, end_, found, refusal_);
}

Step HeadReader::read_request_line() {
  if (const Step step = read_method(); step != Step::done) return step;
  if (const Step step = read_target(); step != Step::done) return step;
  if (const Step step = read_version(); step != Step::done) return step;
  return split_target();
}

Step HeadReader::read_method() {
  const char* const limit = std::min(end_, p_ + kMethodBytesMax + 1);
  const char* const stop = skip_token(p_, limit);
  if (static_cast<std::size_t>(stop - p_) > kMethodBytesMax) {
    return refuse(400, "The method is too long.");
  }
  if (stop == end_) return Step::need_more;
  if (*stop != ' ' || stop == p_) return refuse(400, "The method is not a token.");
  request_.method = {p_, stop};
  p_ = stop + 1;
  return Step::done;
}

Step HeadReader::read_target() {
  const char* const stop = find_target_stop(p_, end_);
  const auto bytes = static_cast<std::size_t>(stop - p_);
  if (bytes > limits_.target_bytes_max) return refuse(414, "The request target is too long.");
  if (stop == end_) return Step::need_more;
  if (*stop != ' ' || bytes == 0) return refuse(400, "The request target is malformed.");
  request_.target = {p_, stop};
  p_ = stop + 1;
  return Step::done;
}

Step HeadReader::read_version() {
  for (std::size_t i = 0; i < kVersionShape.size(); ++i) {
    if (p_ + i == end_) return Step::need_more;
    const bool fits = kVersionShape[i] == 'd' ? is_digit(p_[i]) : p_[i] == kVersionShape[i];
    if (!fits) return refuse(400, "The request line does not end in an HTTP version.");
  }
  const char major = p_[5];
  const char minor = p_[7];
  if (major != '1' || minor > '1') return refuse(505, "Only HTTP/1.1 and HTTP/1.0 are supported.");
  head_.http_1_0 = minor == '0';
  p_ += kVersionShape.size();
  return Step::done;
}

// Splits path?query, from the origin form or from the absolute form that proxies send.
Step HeadReader::split_target() {
  std::string_view rest = request_.target;
  if (rest.front() != '/' && rest != "*") {
    const std::size_t scheme_end = rest.find("://");
    const std::string_view scheme = rest.substr(0, scheme_end);
    if (scheme_end == std::string_view::npos ||
        !(iequals(scheme, "http") || iequals(scheme, "https"))) {
      return refuse(400, "The request target is neither a path nor an http URL.");
    }
    rest.remove_prefix(scheme_end + 3);
    authority_ = rest.substr(0, rest.find_first_of("/?"));
    rest.remove_prefix(authority_.size());
    if (authority_.empty() || !is_authority(authority_)) {
      return refuse(400, "The request target names no host.");
    }
  }
  const std::size_t mark = rest.find('?');
  request_.path = rest.substr(0, mark);
  if (request_.path.empty()) request_.path = "/";
  request_.query = mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
  return Step::done;
}

Step HeadReader::read_fields() {
  while (true) {
    bool at_end = false;
    Step step = parse_empty_line(p_, end_, at_end, refusal_);
    if (step != Step::done || at_end) return step;
    if (request_.headers.size() == limits_.headers_max) return refuse(431, "Too many headers.");
    Header& field = request_.headers.emplace_back();
    step = parse_field(p_, end_, field, request_.ascii, refusal_);
    if (step == Step::done) step = note(field);
    if (step != Step::done) return step;
  }
}

// Handles the few headers that affect framing and the connection.
Step HeadReader::note(const Header& field) {
  switch (field.name.size()) {
    case 4:
      return iequals(field.name, "host") ? note_host(field.value) : Step::done;
    case 6:
      return iequals(field.name, "expect") ? note_expect(field.value) : Step::done;
    case 10:
      if (iequals(field.name, "connection")) note_connection(field.value);
      return Step::done;
    case 14:
      if (!iequals(field.name, "content-length")) return Step::done;
      return note_content_length(field.value);
    case 17:
      if (!iequals(field.name, "transfer-encoding")) return Step::done;
      return note_transfer_encoding(field.value);
    default:
      return Step::done;
  }
}

Step HeadReader::note_content_length(std::string_view value) {
  if (has_length_) return refuse(400, "Content-Length is given twice.");
  if (value.empty() || !std::ranges::all_of(value, is_digit)) {
    return refuse(400, "Content-Length is not a number.");
  }
  has_length_ = true;
  // A number that overflows exceeds every limit.
  head_.body_bytes = parse_int<std::uint64_t>(value).value_or(UINT64_MAX);
  return Step::done;
}

Step HeadReader::note_transfer_encoding(std::string_view value) {
  if (has_transfer_encoding_) return refuse(400, "Transfer-Encoding is given twice.");
  if (value.empty()) return refuse(400, "Transfer-Encoding is empty.");
  has_transfer_encoding_ = true;
  head_.chunked = iequals(value, "chunked");
  return Step::done;
}

Step HeadReader::note_host(std::string_view value) {
  if (has_host_) return refuse(400, "Host is given twice.");
  if (!is_authority(value)) return refuse(400, "Host is malformed.");
  request_.host = value;
  has_host_ = true;
  return Step::done;
}

void HeadReader::note_connection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trim(value.substr(0, comma));
    says_close_ |= iequals(option, "close");
    says_keep_alive_ |= iequals(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

Step HeadReader::note_expect(std::string_view value) {
  (iequals(value, "100-continue") ? head_.expects_continue : unknown_expectation_) = true;
  return Step::done;
}

// Checks that need the whole head. Conflicting framing headers enable request smuggling, so they
// are refused first.
Step HeadReader::finish() {
  if (has_length_ && has_transfer_encoding_) {
    return refuse(400, "Content-Length and Transfer-Encoding exclude each other.");
  }
  if (has_transfer_encoding_ && head_.http_1_0) {
    return refuse(400, "HTTP/1.0 has no Transfer-Encoding.");
  }
  if (has_transfer_encoding_ && !head_.chunked) {
    return refuse(400, "The only supported transfer coding is chunked.");
  }
  if (!has_host_ && !head_.http_1_0) return refuse(400, "Host is missing.");
  if (unknown_expectation_) return refuse(417, "The only supported expectation is 100-continue.");
  head_.upload = is_upload(request_);
  const std::size_t body_bytes_max =
      head_.upload ? limits_.upload_bytes_max : limits_.body_bytes_max;
  if (head_.body_bytes > body_bytes_max) return refuse(413, "The body is too large.");
  head_.expects_continue &= !head_.http_1_0;
  // RFC 9112 section 3.2.2: an absolute-form target takes precedence over Host.
  if (!authority_.empty()) request_.host = authority_;
  head_.bytes = static_cast<std::size_t>(p_ - begin_);
  request_.keep_alive = !says_close_ && (!head_.http_1_0 || says_keep_alive_);
  return Step::done;
}

}  // namespace

Step parse_head(std::string_view bytes, const Limits& limits, Request& request, Head& head,
                Refusal& refusal) {
  HeadReader reader(bytes, limits, request, refusal);
  const Step step = reader.read();
  if (step == Step::done) head = reader.head();
  return step;
}

Step parse_field(const char*& p, const char* end, Header& field, bool& ascii, Refusal& refusal) {
  const char* const name_end = skip_token(p, end);
  if (name_end == end) return Step::need_more;
  // Also refuses folded lines and a space before the colon.
  if (*name_end != ':' || name_end == p) return refuse(refusal, 400, "A header name is malformed.");
  const char* value = name_end + 1;
  while (value < end && is_blank(*value)) ++value;
  const char* const stop = skip_value(value, end, ascii);
  if (stop == end) return Step::need_more;
  if (*stop != '\r') return refuse(refusal, 400, "A header contains a control character.");
  if (stop + 1 == end) return Step::need_more;
  if (stop[1] != '\n')
    return refuse(refusal, 400, "A carriage return is not followed by a line feed.");
  const char* value_end = stop;
  while (value_end > value && is_blank(value_end[-1])) --value_end;
  field = {.name = {p, name_end}, .value = {value, value_end}};
  p = stop + 2;
  return Step::done;
}

Step parse_empty_line(const char*& p, const char* end, bool& at_end, Refusal& refusal) {
  if (p == end) return Step::need_more;
  if (*p != '\r') return Step::done;
  if (p + 1 == end) return Step::need_more;
  if (p[1] != '\n')
    return refuse(refusal, 400, "A carriage return is not followed by a line feed.");
  p += 2;
  at_end = true;
  return Step::done;
}

}  // namespace redrive::http
