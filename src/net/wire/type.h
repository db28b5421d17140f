#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Type descriptions for codecs: tables generated from the shapes at compile time. A codec walks a
// Record together with a `void*` to the struct it describes, so each protocol is compiled once and
// not once per action.

namespace redrive::wire {

// Raw bytes in memory, base64 on the wire.
struct Blob {
  std::string_view bytes;

  bool operator==(const Blob&) const = default;
};

// A double that is written with a point or an exponent even if it is whole: 5.0.
struct Decimal {
  double value = 0;

  bool operator==(const Decimal&) const = default;
};

enum class Kind : std::uint8_t {
  text,      // std::string_view
  flag,      // bool
  int32,     // std::int32_t
  int64,     // std::int64_t
  number,    // double; finite
  decimal,   // Decimal; finite
  time,      // Timestamp; ISO 8601 or seconds since 1970. In JSON: seconds with three decimals
  uuid,      // Uuid
  md5,       // Md5
  blob,      // Blob
  optional,  // std::optional<inner>
  list,      // std::vector<inner>
  map,       // std::vector<std::pair<std::string_view, inner>>, in order of arrival, keys distinct
  record,    // a struct with a shape
};

struct Record;

// A C++ type with the operations that a codec needs. Operations that do not apply to the kind are
// null.
struct Type {
  Kind kind;
  const Type* inner = nullptr;           // optional, list, map
  const Record* record = nullptr;        // record
  void (*reset)(void* value) = nullptr;  // Resets to absent or empty; lists keep their capacity.
  void* (*engage)(void* optional) = nullptr;                            // Emplaces a new value.
  const void* (*held)(const void* optional) = nullptr;                  // Null if empty.
  std::size_t (*size)(const void* items) = nullptr;                     // list, map
  const void* (*item)(const void* items, std::size_t index) = nullptr;  // For a map: the value.
  std::string_view (*key)(const void* items, std::size_t index) = nullptr;
  void* (*append)(void* items) = nullptr;                       // list: appends a new item
  void* (*place)(void* items, std::string_view key) = nullptr;  // map: a new value for the key
};

// Properties of a member beyond its name and type.
struct Traits {
  bool required = false;   // If absent, the request fails.
  bool filled = false;     // Required, and an empty text counts as absent.
  bool queue = false;      // The queue's name or URL; in Query the path may be used instead.
  bool content = false;    // Message content: the caller checks its characters.
  bool always = false;     // Written even when empty: in JSON, and in XML if it is wrapped.
  bool sensitive = false;  // May contain secrets of users; see wire/sensitive.h.
  bool ranged = false;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view reason;             // For the error message of an out-of-range value.
  std::string_view item_name;          // Name of one item of a list or map, in Query and XML.
  std::string_view key_name = "Name";  // Names of a map's key and value inside the item.
  std::string_view value_name = "Value";
  // Query and XML put the items into an element of their own: Tags.member.1, <Tags><member>.
  bool wrapped = false;
};

struct Field {
  // JSON member name; also used in Query and XML, except for lists and maps.
  std::string_view name;
  const Type* type;
  Traits traits;
  void* (*in)(void* record);  // Address of the field's value in a record.

  const void* of(const void* record) const { return in(const_cast<void*>(record)); }
};

struct Record {
  std::span<const Field> fields;  // At most 64, in encoding order.
  void (*reset)(void* record);    // Applies Type::reset to every field.
};

// The type behind std::optional, or the type itself.
constexpr const Type& bare(const Type& type) {
  return type.kind == Kind::optional ? *type.inner : type;
}

constexpr bool is_collection(const Type& type) {
  return type.kind == Kind::list || type.kind == Kind::map;
}

// The value to encode for a field, of type bare(*field.type); null if it is omitted: an empty
// optional, an empty collection, or an empty text that is not required.
inline const void* value_to_write(const Field& field, const void* record) {
  const void* value = field.of(record);
  switch (field.type->kind) {
    case Kind::optional:
      return field.type->held(value);
    case Kind::list:
    case Kind::map:
      return field.type->size(value) > 0 ? value : nullptr;
    case Kind::text:
      if (field.traits.required) return value;
      return static_cast<const std::string_view*>(value)->empty() ? nullptr : value;
    default:
      return value;
  }
}

}  // namespace redrive::wire
