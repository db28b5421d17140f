#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What a codec knows of a value: tables made from the shapes at compile time, and nothing of the
// C++ types behind them. A codec walks a Record beside a `void*` to the struct it describes, so
// that each protocol is compiled once and not once per action.

namespace redrive::wire {

// Bytes. They travel as base64; in memory they are what they are.
struct Blob {
  std::string_view bytes;

  bool operator==(const Blob&) const = default;
};

enum class Kind : std::uint8_t {
  text,      // std::string_view
  flag,      // bool
  int32,     // std::int32_t
  int64,     // std::int64_t
  number,    // double; finite
  uuid,      // Uuid
  md5,       // Md5
  blob,      // Blob
  optional,  // std::optional<inner>
  list,      // std::vector<inner>
  map,       // std::vector<std::pair<std::string_view, inner>>, in order of arrival, keys distinct
  record,    // a struct with a shape
};

struct Record;

// A C++ type, with the operations a codec needs on values of it. Operations that make no sense for
// the kind are null.
struct Type {
  Kind kind;
  const Type* inner = nullptr;                // optional, list, map
  const Record* record = nullptr;             // record
  void (*reset)(void* value) = nullptr;       // Back to absent or empty; lists keep their capacity.
  void* (*engage)(void* optional) = nullptr;  // Holds a fresh value from now on.
  const void* (*held)(const void* optional) = nullptr;  // Null when nothing is held.
  std::size_t (*size)(const void* items) = nullptr;     // list, map
  const void* (*item)(const void* items, std::size_t index) = nullptr;  // A map's: the value.
  std::string_view (*key)(const void* items, std::size_t index) = nullptr;
  void* (*append)(void* items) = nullptr;                       // list: a fresh item at the end
  void* (*place)(void* items, std::string_view key) = nullptr;  // map: a fresh value for that key
};

// What a shape says about a member beyond its name and type.
struct Traits {
  bool required = false;  // Its absence fails the request.
  bool filled = false;    // Required, and an empty text counts as absent.
  bool queue = false;     // Names the queue; a Query request may name it by its path instead.
  bool content =
      false;            // Message content: whether its characters are allowed is the caller's rule.
  bool always = false;  // Written to JSON even when empty.
  bool sensitive = false;  // May hold secrets of users: see wire/sensitive.h.
  bool ranged = false;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view reason;             // Told to whoever leaves the range.
  std::string_view item_name;          // One item of a list or map, in Query and XML.
  std::string_view key_name = "Name";  // A map's key and value inside the item.
  std::string_view value_name = "Value";
};

struct Field {
  std::string_view name;  // JSON member; in Query and XML too unless the field is a list or map.
  const Type* type;
  Traits traits;
  void* (*in)(void* record);  // Where the field's value is in a record.

  const void* of(const void* record) const { return in(const_cast<void*>(record)); }
};

struct Record {
  std::span<const Field> fields;  // At most 64, in the order in which they are written.
  void (*reset)(void* record);    // Every field as Type::reset does.
};

// The type behind std::optional, or the type itself.
constexpr const Type& bare(const Type& type) {
  return type.kind == Kind::optional ? *type.inner : type;
}

constexpr bool is_collection(const Type& type) {
  return type.kind == Kind::list || type.kind == Kind::map;
}

// The value to write for a field, of type bare(*field.type), or null when there is nothing to
// write: an optional that holds nothing, an empty collection, or an empty text that is not
// required.
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
