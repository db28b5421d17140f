#include "auth/canonical_request.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kSignatureParameter = "X-Amz-Signature";
constexpr std::size_t kUsualBytes = 1024;

// Takes out empty, `.` and `..` segments. A trailing slash stays: it is part of the name.
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

// S3 keys may hold dots and doubled slashes, so there the path counts as it travels.
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

// Blanks around the value go, runs of them inside become one space.
void append_trimmed(std::string& out, std::string_view value) {
  if (is_tidy(value)) {
    out += value;
    return;
  }
  bool blank = false;
  bool begun = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      blank = begun;
      continue;
    }
    if (blank) out += ' ';
    out += c;
    begun = true;
    blank = false;
  }
}

// One line; a header that came several times keeps the order it came in.
void append_header_line(std::string& out, const RequestParts& request, std::string_view name) {
  out.append(name).append(":");
  bool first = true;
  for (const HeaderField& header : request.headers) {
    if (!iequals(header.name, name)) continue;
    if (!std::exchange(first, false)) out += ',';
    append_trimmed(out, header.value);
  }
  out += '\n';
}

}  // namespace

std::string_view header_of(const RequestParts& request, std::string_view name) {
  for (const HeaderField& header : request.headers) {
    if (iequals(header.name, name)) return header.value;
  }
  return {};
}

std::string canonical_request(const RequestParts& request, const CanonicalChoices& choices) {
  std::string out;
  out.reserve(kUsualBytes);
  out.append(request.method).append("\n").append(canonical_path(request.path, choices.service));
  out.append("\n").append(canonical_query(request.query)).append("\n");
  for (const std::string_view name : choices.signed_headers) append_header_line(out, request, name);
  for (std::size_t i = 0; i < choices.signed_headers.size(); ++i) {
    out.append(i == 0 ? "\n" : ";").append(choices.signed_headers[i]);
  }
  return out.append("\n").append(choices.payload_hash);
}

}  // namespace redrive::auth
