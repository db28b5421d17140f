#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dead_letters/triage/body_shape.h"
#include "dead_letters/triage/value_counts.h"

namespace redrive::triage {

class JsonDocument;

enum class JsonType : std::uint8_t { object, array, string, number, boolean, null };
inline constexpr std::size_t kJsonTypes = 6;
std::string_view name_of(JsonType type);

// Statistics of one key of JSON bodies.
struct JsonField {
  std::string name;  // The last step of its path.
  std::uint16_t parent = 0;
  bool in_array = false;       // It belongs to the items of its parent, an array.
  bool children_full = false;  // Keys below it were left out, so a missing one may have occurred.
  std::uint16_t children = 0;
  std::uint8_t depth = 0;
  std::uint64_t with = 0;                         // Messages that have it,
  std::array<std::uint64_t, kJsonTypes> types{};  // by type.
  // Texts of scalars; JSON strings are prefixed with a quote. Not kept for items of arrays, nor
  // under names like "password".
  ValueCounts values;

  std::uint64_t seen_in = 0;  // The message that `types_seen` refers to: each counts once.
  std::uint8_t types_seen = 0;

  friend bool operator==(const JsonField& a, const JsonField& b) {
    return a.name == b.name && a.parent == b.parent && a.in_array == b.in_array &&
           a.children_full == b.children_full && a.with == b.with && a.types == b.types &&
           a.values == b.values;
  }
};

// The keys of JSON bodies, as a tree; the first field is the body itself. A field in the tree has
// been counted since the first message: once full, no others are added.
class JsonFields {
 public:
  static constexpr std::size_t kFieldsMax = 256;
  static constexpr std::size_t kChildrenMax = 64;  // Keeps ids used as keys from filling the table.
  static constexpr std::size_t kNameBytesMax = 64;  // Longer keys are ignored.
  static constexpr std::uint8_t kDepthMax = 3;
  static constexpr std::size_t kItemsRead = 16;  // Per array.

  JsonFields();

  // Counts the keys of a body if it is JSON, and returns its kind. `document` is the parsed body.
  BodyKind add(const JsonDocument& document, std::string_view body, ValueBudget& budget);
  void merge(const JsonFields& other, ValueBudget& budget);

  const std::vector<JsonField>& all() const { return fields_; }
  std::optional<std::uint16_t> find(std::uint16_t parent, std::string_view name,
                                    bool in_array) const;

  // For the codec: first the root's counts, then each field after its parent. Returns false if it
  // does not fit or is a duplicate.
  void restore_root(const JsonField& root);
  bool restore(JsonField field);
  void restore_full(std::uint16_t field);  // Call last: a full field accepts no children.

  friend bool operator==(const JsonFields& a, const JsonFields& b) {
    return a.fields_ == b.fields_;
  }

  std::size_t heap_bytes() const;

 private:
  friend class JsonCounter;
  friend class JsonMerger;

  static constexpr std::size_t kSlots = 2 * kFieldsMax;
  static constexpr std::uint16_t kNone = 0xffff;

  std::size_t slot_of(std::uint16_t parent, std::string_view name, bool in_array) const;
  std::optional<std::uint16_t> find_or_create(std::uint16_t parent, std::string_view name,
                                              bool in_array);

  std::vector<JsonField> fields_;
  std::vector<std::uint16_t> slots_;  // Open-addressing hash table of indices into fields_.
  std::uint64_t messages_ = 0;        // Number of messages seen, to count each once.
};

}  // namespace redrive::triage
