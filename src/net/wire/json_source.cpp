#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "net/wire/checks.h"
#include "net/wire/decoder.h"
#include "net/wire/json_string.h"

// AWS JSON: an object whose members are the fields of a record.
//
// simdjson finds the tokens and has validated UTF-8 and quotes before the walk; strings are taken
// from its raw tokens by json_string.h, without a copy if nothing is escaped. Recursion depth is
// bounded by the shape: unknown members are skipped without recursion.

namespace redrive::wire {

namespace ondemand = simdjson::ondemand;

class JsonParser {
 public:
  ondemand::parser parser{kJsonBytesMax};
};

namespace {

std::unexpected<Error> not_json(simdjson::error_code error) {
  return fail(
      ErrorCode::malformed_request,
      fmt::format("The request body is not valid JSON: {}", simdjson::error_message(error)));
}

// Like TRY, for simdjson's results.
#define JSON_TRY(expression)                                       \
  __extension__({                                                  \
    auto json_result = (expression);                               \
    if (json_result.error()) return not_json(json_result.error()); \
    std::move(json_result).value_unsafe();                         \
  })

class JsonReader {
 public:
  JsonReader(Arena& arena, std::string_view body, UnknownMembers unknown)
      : arena_(arena), end_(body.data() + body.size()), unknown_(unknown) {}

  // Reads the members known to the shape; bit i of the result is set if field i was present.
  Result<std::uint64_t> members(ondemand::object object, const Record& record, void* out,
                                const Path* path, bool content) {
    std::uint64_t seen = 0;
    std::size_t hint = 0;
    for (auto each : object) {
      auto member = JSON_TRY(std::move(each));
      const auto name = key(member, LoneSurrogates::keep);
      if (!name) return bad_key();
      const std::size_t i = find(record, *name, hint);
      if (i == record.fields.size()) {
        if (unknown_ == UnknownMembers::refuse)
          RETURN_IF_ERROR(check_unknown(member.value(), *name, path));
        continue;
      }
      hint = i + 1;
      const Field& field = record.fields[i];
      const bool present =
          TRY(value(member.value(), *field.type, field.in(out), spot_of(field, path, content)));
      if (!present) field.type->reset(field.in(out));
      seen = (seen & ~(1ull << i)) | (std::uint64_t{present} << i);
    }
    return seen;
  }

 private:
  // Members usually come in the order of the shape, so the search starts after the last one found.
  static std::size_t find(const Record& record, std::string_view name, std::size_t hint) {
    const std::size_t count = record.fields.size();
    for (std::size_t step = 0; step < count; ++step) {
      const std::size_t i = hint + step < count ? hint + step : hint + step - count;
      if (record.fields[i].name == name) return i;
    }
    return count;
  }

  std::optional<std::string_view> key(ondemand::field& member, LoneSurrogates lone) {
    return read_json_string(arena_, member.key().raw(), end_, lone);
  }

  Result<void> check_unknown(ondemand::value json, std::string_view name, const Path* path) {
    if (TRY(is_empty(json))) return {};
    return unknown_member(path, name);
  }

  static Result<bool> is_empty(ondemand::value& json) {
    switch (JSON_TRY(json.type())) {
      case ondemand::json_type::null:
        return true;
      case ondemand::json_type::string:
        return json.raw_json_token().starts_with("\"\"");
      case ondemand::json_type::array: {
        auto array = JSON_TRY(json.get_array());
        return JSON_TRY(array.is_empty());
      }
      case ondemand::json_type::object: {
        auto object = JSON_TRY(json.get_object());
        return JSON_TRY(object.is_empty());
      }
      default:
        return false;
    }
  }

  static std::unexpected<Error> bad_key() {
    return fail(ErrorCode::malformed_request, "A member name contains an invalid escape.");
  }

  // Returns false if the value is null.
  Result<bool> value(ondemand::value json, const Type& type, void* out, const Spot& at) {
    if (JSON_TRY(json.is_null())) return false;
    if (type.kind == Kind::optional) {
      RETURN_IF_ERROR(present(json, *type.inner, type.engage(out), at));
    } else {
      type.reset(out);
      RETURN_IF_ERROR(present(json, type, out, at));
    }
    return true;
  }

  Result<void> present(ondemand::value& json, const Type& type, void* out, const Spot& at) {
    switch (type.kind) {
      case Kind::text:
        *static_cast<std::string_view*>(out) = TRY(text(json, at));
        return {};
      case Kind::list:
        return list(json, type, out, at);
      case Kind::map:
        return map(json, type, out, at);
      case Kind::record:
        return nested(json, type, out, at.path, at);
      default:
        return scalar(json, type, out, at);
    }
  }

  Result<std::string_view> text(ondemand::value& json, const Spot& at) {
    const auto raw = json.get_raw_json_string();
    if (raw.error()) return malformed(at, "a string");
    const auto lone = at.content ? LoneSurrogates::keep : LoneSurrogates::refuse;
    const auto text = read_json_string(arena_, raw.value_unsafe().raw(), end_, lone);
    if (!text) return malformed(at, "a string without invalid escapes");
    return *text;
  }

  Result<void> scalar(ondemand::value& json, const Type& type, void* out, const Spot& at) {
    const auto kind = JSON_TRY(json.type());
    if (kind == ondemand::json_type::string) {
      const std::string_view written = TRY(text(json, at));
      if (TRY(parse_scalar(at, type, written, arena_, out))) return {};
    } else if (kind == ondemand::json_type::number && is_integer(type)) {
      return integer(json, type, out, at);
    } else if (kind == ondemand::json_type::number && type.kind == Kind::number) {
      if (json.get_double().get(*static_cast<double*>(out)) == simdjson::SUCCESS) return {};
    } else if (kind == ondemand::json_type::number && type.kind == Kind::decimal) {
      if (json.get_double().get(static_cast<Decimal*>(out)->value) == simdjson::SUCCESS) return {};
    } else if (kind == ondemand::json_type::number && type.kind == Kind::time) {
      const auto moment = time_of_seconds(JSON_TRY(json.get_double()));
      if (moment) *static_cast<Timestamp*>(out) = *moment;
      if (moment) return {};
    } else if (kind == ondemand::json_type::boolean && type.kind == Kind::flag) {
      *static_cast<bool*>(out) = JSON_TRY(json.get_bool());
      return {};
    }
    return malformed(at, expected(type));
  }

  static bool is_integer(const Type& type) {
    return type.kind == Kind::int32 || type.kind == Kind::int64;
  }

  static std::string_view expected(const Type& type) {
    switch (type.kind) {
      case Kind::flag:
        return "true or false";
      case Kind::number:
      case Kind::decimal:
        return "a number";
      case Kind::time:
        return "a time";
      case Kind::uuid:
        return "a UUID";
      case Kind::md5:
        return "an MD5 in hexadecimal digits";
      case Kind::blob:
        return "a string in base64";
      default:
        return "an integer";
    }
  }

  // 5, 5.0 and 5e0 are the same number; 5.5 is not an integer.
  Result<void> integer(ondemand::value& json, const Type& type, void* out, const Spot& at) {
    auto number = json.get_number();
    if (number.error()) return malformed(at, "an integer");
    const auto parsed = number.value_unsafe();
    if (parsed.is_int64()) return put_integer(at, type, parsed.get_int64(), out);
    constexpr double kTooLarge = 0x1p63;
    const double value = parsed.as_double();
    const bool whole = std::trunc(value) == value && std::abs(value) < kTooLarge;
    if (!whole) return malformed(at, "an integer");
    return put_integer(at, type, static_cast<std::int64_t>(value), out);
  }

  Result<void> list(ondemand::value& json, const Type& type, void* out, const Spot& at) {
    auto array = json.get_array();
    if (array.error()) return malformed(at, "a list");
    Path path{at.path, at.field.traits.item_name, 0};
    for (auto each : array.value_unsafe()) {
      auto item = JSON_TRY(std::move(each));
      if (JSON_TRY(item.is_null())) continue;
      if (++path.number > kListItemsMax) return too_many_items(at);
      RETURN_IF_ERROR(item_value(item, *type.inner, type.append(out), path, at));
    }
    return {};
  }

  Result<void> map(ondemand::value& json, const Type& type, void* out, const Spot& at) {
    auto object = json.get_object();
    if (object.error()) return malformed(at, "an object");
    Path path{at.path, at.field.traits.item_name, 0};
    for (auto each : object.value_unsafe()) {
      auto member = JSON_TRY(std::move(each));
      const auto name = key(member, at.content ? LoneSurrogates::keep : LoneSurrogates::refuse);
      if (!name) return bad_key();
      if (JSON_TRY(member.value().is_null())) continue;
      if (++path.number > kMapItemsMax) return too_many_items(at);
      RETURN_IF_ERROR(item_value(member.value(), *type.inner, type.place(out, *name), path, at));
    }
    return {};
  }

  // Errors inside a record name the item; a scalar item is identified by its list.
  Result<void> item_value(ondemand::value& json, const Type& type, void* out, const Path& path,
                          const Spot& at) {
    if (type.kind == Kind::record) return nested(json, type, out, &path, at);
    return present(json, type, out, at);
  }

  Result<void> nested(ondemand::value& json, const Type& type, void* out, const Path* path,
                      const Spot& at) {
    auto object = json.get_object();
    if (object.error()) return malformed(at, "an object");
    const auto seen = TRY(members(object.value_unsafe(), *type.record, out, path, at.content));
    return check_record(*type.record, out, seen, path);
  }

  Arena& arena_;
  const char* end_;
  const UnknownMembers unknown_;
};

}  // namespace

Decoder::Decoder() : json_(std::make_unique<JsonParser>()) {}
Decoder::~Decoder() = default;

Result<void> decode_json(Decoder& decoder, PaddedView body, const Record& record, void* out,
                         UnknownMembers unknown) {
  static_assert(kTextPadding >= simdjson::SIMDJSON_PADDING);
  const std::string_view text = body.text();
  decoder.arena().reset();
  record.reset(out);
  const simdjson::padded_string_view json(text, text.size() + simdjson::SIMDJSON_PADDING);
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  const bool blank = std::ranges::all_of(text, is_space);
  if (blank) return check_record(record, out, 0, nullptr);

  auto document = JSON_TRY(decoder.json().parser.iterate(json));
  auto object = document.get_object();
  if (object.error() == simdjson::INCORRECT_TYPE) {
    return fail(ErrorCode::malformed_request, "The request body must be a JSON object.");
  }
  if (object.error()) return not_json(object.error());
  JsonReader reader(decoder.arena(), text, unknown);
  const auto seen = TRY(reader.members(object.value_unsafe(), record, out, nullptr, false));
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  if (!at_end) return not_json(simdjson::TRAILING_CONTENT);
  return check_record(record, out, seen, nullptr);
}

}  // namespace redrive::wire
