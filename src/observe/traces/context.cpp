#include "observe/traces/context.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace redrive::traces {
namespace {

std::string hex_of(std::span<const std::uint8_t> bytes) {
  std::string out(2 * bytes.size(), '\0');
  write_hex(out.data(), bytes.data(), bytes.size());
  return out;
}

std::optional<std::uint8_t> nibble(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

// Requires exactly as many digits as the id has, and not all zero.
bool read_id(std::string_view text, std::span<std::uint8_t> id) {
  if (text.size() != 2 * id.size()) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto high = nibble(text[2 * i]);
    const auto low = nibble(text[2 * i + 1]);
    if (!high || !low) return false;
    id[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return std::ranges::any_of(id, [](std::uint8_t byte) { return byte != 0; });
}

bool read_root(std::string_view root, TraceId& id) {
  constexpr std::size_t kEpochDigits = 8;
  if (!root.starts_with("1-") || root.size() < 3 + kEpochDigits) return false;
  root.remove_prefix(2);
  if (root[kEpochDigits] != '-') return false;
  return read_id(std::string(root.substr(0, kEpochDigits)) + std::string(root.substr(9)), id);
}

}  // namespace

std::string hex(const TraceId& id) {
  return hex_of(id);
}
std::string hex(const SpanId& id) {
  return hex_of(id);
}

std::optional<Context> parse_xray_header(std::string_view header) {
  Context found;
  bool root = false;
  bool parent = false;
  for (const std::string_view part : split(header, ';')) {
    if (part.starts_with("Root=")) root = read_root(part.substr(5), found.trace);
    if (part.starts_with("Parent=")) parent = read_id(part.substr(7), found.parent);
    if (part == "Sampled=0") return std::nullopt;
  }
  if (!root || !parent) return std::nullopt;
  return found;
}

std::optional<Context> parse_traceparent(std::string_view header) {
  constexpr std::size_t kLength = 55;
  if (header.size() < kLength || header.starts_with("ff")) return std::nullopt;
  // Later versions may append fields.
  const bool longer = header.size() > kLength;
  if (longer && (header.starts_with("00") || header[kLength] != '-')) return std::nullopt;
  if (header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  Context found;
  if (!read_id(header.substr(3, 32), found.trace) || !read_id(header.substr(36, 16), found.parent))
    return std::nullopt;
  return found;
}

Place place_of(const Origin& origin) {
  const std::string text = origin.lineage.text();
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '-'; });
  Place place;
  read_id(digits, place.trace);
  read_id(std::string_view(digits).substr(16), place.send);
  auto context = parse_traceparent(origin.traceparent);
  if (!context) context = parse_xray_header(origin.xray);
  if (context) {
    place.trace = context->trace;
    place.before = context->parent;
  }
  return place;
}

}  // namespace redrive::traces
