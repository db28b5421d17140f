#include "net/auth/canonical_request.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kSignatureParameter = "X-Amz-Signature";
constexpr std::size_t kUsualBytes = 1024;

// A string built from many small pieces; appending costs little more than the copy.
class CanonicalText {
 public:
  void put(std::string_view piece) {
    ensure_space(piece.size());
    if (!piece.empty()) std::memcpy(bytes_.data() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }
  void put(char c) {
    ensure_space(1);
    bytes_[size_++] = c;
  }
  std::string take() && {
    bytes_.resize(size_);
    return std::move(bytes_);
  }

 private:
  void ensure_space(std::size_t bytes) {
    if (bytes > bytes_.size() - size_) bytes_.resize(2 * bytes_.size() + bytes);
  }

  std::string bytes_ = std::string(kUsualBytes, '\0');
  std::size_t size_ = 0;
};

// Removes empty, `.` and `..` segments. A trailing slash is kept: it is part of the name.
std::string normalize_path(std::string_view path) {
  std::vector<std::string_view> kept;
  bool slash_at_end = false;
  for (const std::string_view segment : split(path, '/')) {
    slash_at_end = segment.empty() || segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!slash_at_end) kept.push_back(segment);
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  if (slash_at_end || out.empty()) out += '/';
  return out;
}

// S3 keys may contain dots and double slashes, so S3 paths are used as sent.
std::string canonical_path(std::string_view path, std::string_view service) {
  if (path.empty() || path == "/") return "/";
  if (service == "s3") return std::string(path);
  return percent_encode(normalize_path(path), true);
}

std::string canonical_query(std::string_view query) {
  if (query.empty()) return {};
  std::vector<std::pair<std::string, std::string>> fields;
  for (const std::string_view field : split(query, '&')) {
    if (field.empty()) continue;
    const std::size_t equals = field.find('=');
    const std::string name = percent_decode(field.substr(0, equals), true);
    if (name == kSignatureParameter) continue;
    const auto raw = equals == std::string_view::npos ? "" : field.substr(equals + 1);
    fields.emplace_back(percent_encode(name, false),
                        percent_encode(percent_decode(raw, true), false));
  }
  std::sort(fields.begin(), fields.end());
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out.append(name).append("=").append(value);
  }
  return out;
}

bool is_tidy(std::string_view value) {
  constexpr auto kNone = std::string_view::npos;
  if (value.starts_with(' ') || value.ends_with(' ') || value.find('\t') != kNone) return false;
  for (std::size_t at = value.find(' '); at != kNone; at = value.find(' ', at + 1)) {
    if (value[at + 1] == ' ') return false;
  }
  return true;
}

// Trims the value and collapses runs of blanks into one space.
void append_trimmed(CanonicalText& out, std::string_view value) {
  if (is_tidy(value)) return out.put(value);
  bool blank = false;
  bool begun = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      blank = begun;
      continue;
    }
    if (blank) out.put(' ');
    out.put(c);
    begun = true;
    blank = false;
  }
}

// Not inlined: comparing lengths settles most cases, so the calling loops stay small.
[[gnu::noinline]] bool is_named(const HeaderField& header, std::string_view name) {
  return iequals(header.name, name);
}

// One line; repeated headers keep their order.
void append_header_line(CanonicalText& out, const RequestParts& request, std::string_view name) {
  out.put(name);
  out.put(':');
  bool first = true;
  for (const HeaderField& header : request.headers) {
    if (header.name.size() != name.size() || !is_named(header, name)) continue;
    if (!std::exchange(first, false)) out.put(',');
    append_trimmed(out, header.value);
  }
  out.put('\n');
}

}  // namespace

std::string_view header_of(const RequestParts& request, std::string_view name) {
  for (const HeaderField& header : request.headers) {
    if (header.name.size() == name.size() && is_named(header, name)) return header.value;
  }
  return {};
}

std::string canonical_request(const RequestParts& request, const CanonicalChoices& choices) {
  CanonicalText out;
  const auto line = [&out](std::string_view text) {
    out.put(text);
    out.put('\n');
  };
  line(request.method);
  line(canonical_path(request.path, choices.service));
  line(canonical_query(request.query));
  for (const std::string_view name : choices.signed_headers) append_header_line(out, request, name);
  out.put('\n');
  line(choices.signed_list);
  out.put(choices.payload_hash);
  return std::move(out).take();
}

}  // namespace redrive::auth
