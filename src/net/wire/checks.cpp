#include "net/wire/checks.h"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/calendar.h"
#include "base/digest.h"
#include "base/ids.h"
#include "base/text.h"

namespace redrive::wire {
namespace {

constexpr std::size_t kQuotedBytesMax = 128;

std::optional<Md5> parse_md5(std::string_view text) {
  Md5 digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

template <class T>
bool put(const std::optional<T>& value, void* out) {
  if (value) *static_cast<T*>(out) = *value;
  return value.has_value();
}

std::optional<bool> parse_flag(std::string_view text) {
  if (iequals(text, "true")) return true;
  if (iequals(text, "false")) return false;
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  const auto value = parse_number(text);
  return value ? std::optional(Decimal{*value}) : std::nullopt;
}

// Clients write microseconds, and the zone as +00:00.
std::string in_milliseconds(std::string text) {
  if (text.ends_with("+00:00")) text.replace(text.size() - 6, 6, "Z");
  const std::size_t point = text.find('.');
  const bool fraction = point != std::string::npos && text.ends_with('Z');
  if (fraction && text.size() - point > 5) text.replace(point + 4, std::string::npos, "Z");
  return text;
}

std::optional<Timestamp> parse_time(std::string_view text) {
  if (const auto moment = parse_utc(in_milliseconds(std::string(text)))) return moment;
  const auto seconds = parse_number(text);
  return seconds ? time_of_seconds(*seconds) : std::nullopt;
}

std::optional<Blob> parse_blob(std::string_view text, Arena& arena) {
  const auto bytes = base64_decode(text);
  if (!bytes) return std::nullopt;
  return Blob{arena.copy(*bytes)};
}

Result<bool> parse_integer(const Spot& spot, const Type& type, std::string_view text, void* out) {
  assert(type.kind == Kind::int32 || type.kind == Kind::int64);
  const auto number = parse_int<std::int64_t>(text);
  if (!number) return false;
  RETURN_IF_ERROR(put_integer(spot, type, *number, out));
  return true;
}

bool is_present(const Field& field, const void* value, bool seen) {
  if (!seen) return false;
  const void* held = field.of(value);
  if (is_collection(*field.type)) return field.type->size(held) > 0;
  return !field.traits.filled || !static_cast<const std::string_view*>(held)->empty();
}

std::optional<std::int64_t> integer_in(const Field& field, const void* value) {
  const void* held = value_to_write(field, value);
  if (held == nullptr) return std::nullopt;
  const Kind kind = bare(*field.type).kind;
  return kind == Kind::int32 ? *static_cast<const std::int32_t*>(held)
                             : *static_cast<const std::int64_t*>(held);
}

}  // namespace

std::optional<Timestamp> time_of_seconds(double seconds) {
  if (seconds < 0 || seconds > static_cast<double>(kCalendarEnd.seconds())) return std::nullopt;
  return Timestamp(static_cast<std::int64_t>(seconds * 1000));
}

std::string full_name(const Path* path, std::string_view name) {
  std::string text(name);
  for (; path != nullptr; path = path->outer) {
    const std::string number = path->number > 0 ? fmt::format("{}.", path->number) : "";
    text = fmt::format("{}.{}{}", path->item_name, number, text);
  }
  return text;
}

std::unexpected<Error> malformed(const Spot& spot, std::string_view expected) {
  return fail(ErrorCode::malformed_request,
              fmt::format("{} must be {}.", full_name(spot.path, spot.field.name), expected));
}

std::unexpected<Error> invalid_value(const Spot& spot, std::string_view value) {
  const Traits& traits = spot.field.traits;
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("Value {} for parameter {} is invalid. Reason: {}",
                          utf8_prefix(value, kQuotedBytesMax),
                          full_name(spot.path, spot.field.name),
                          traits.ranged ? traits.reason : "It does not have the expected type."));
}

std::unexpected<Error> too_many_items(const Spot& spot) {
  return malformed(spot, "shorter: it contains too many items");
}

std::unexpected<Error> unknown_member(const Path* path, std::string_view name) {
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("{} is not supported by this server.",
                          utf8_prefix(full_name(path, name), kQuotedBytesMax)));
}

Result<void> put_integer(const Spot& spot, const Type& type, std::int64_t value, void* out) {
  if (type.kind == Kind::int64) {
    *static_cast<std::int64_t*>(out) = value;
    return {};
  }
  using Limits = std::numeric_limits<std::int32_t>;
  if (value < Limits::min() || value > Limits::max()) {
    return invalid_value(spot, std::to_string(value));
  }
  *static_cast<std::int32_t*>(out) = static_cast<std::int32_t>(value);
  return {};
}

Result<bool> parse_scalar(const Spot& spot, const Type& type, std::string_view text, Arena& arena,
                          void* out) {
  switch (type.kind) {
    case Kind::flag:
      return put(parse_flag(text), out);
    case Kind::number:
      return put(parse_number(text), out);
    case Kind::decimal:
      return put(parse_decimal(text), out);
    case Kind::time:
      return put(parse_time(text), out);
    case Kind::uuid:
      return put(Uuid::parse(text), out);
    case Kind::md5:
      return put(parse_md5(text), out);
    case Kind::blob:
      return put(parse_blob(text, arena), out);
    default:
      return parse_integer(spot, type, text, out);
  }
}

Result<void> check_record(const Record& record, const void* value, std::uint64_t seen,
                          const Path* path) {
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    const Field& field = record.fields[i];
    if (!field.traits.required || is_present(field, value, (seen >> i & 1) != 0)) continue;
    return fail(
        ErrorCode::missing_parameter,
        fmt::format("The request must contain the parameter {}.", full_name(path, field.name)));
  }
  for (const Field& field : record.fields) {
    if (!field.traits.ranged) continue;
    const auto number = integer_in(field, value);
    if (!number || (*number >= field.traits.min && *number <= field.traits.max)) continue;
    return invalid_value(spot_of(field, path, false), std::to_string(*number));
  }
  return {};
}

}  // namespace redrive::wire
