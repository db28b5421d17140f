#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dead_letter/body_shape.h"
#include "dead_letter/value_counts.h"

namespace redrive::dead_letter {

class JsonDocument;

enum class JsonType : std::uint8_t { object, array, string, number, boolean, null };
inline constexpr std::size_t kJsonTypes = 6;
std::string_view name_of(JsonType type);

// What is known of one key of JSON bodies.
struct JsonField {
  std::string name;  // The last step of its path.
  std::uint16_t parent = 0;
  bool in_array = false;       // It belongs to the items of its parent, which is an array.
  bool children_full = false;  // Keys below it were left out: one that is not here may have been.
  std::uint16_t children = 0;
  std::uint8_t depth = 0;
  std::uint64_t with = 0;                         // Messages that have it,
  std::array<std::uint64_t, kJsonTypes> types{};  // and have it as each type.
  // Texts of scalars, those of JSON strings with a quote in front. Not kept for items of arrays,
  // nor under names like "password".
  ValueCounts values;

  std::uint64_t seen_in = 0;  // The message that `types_seen` is about: each counts once.
  std::uint8_t types_seen = 0;

  friend bool operator==(const JsonField& a, const JsonField& b) {
    return a.name == b.name && a.parent == b.parent && a.in_array == b.in_array &&
           a.children_full == b.children_full && a.with == b.with && a.types == b.types &&
           a.values == b.values;
  }
};

// The keys of JSON bodies, as a tree; the first field is the body itself. A field that is in it has
// been counted from the first message on: once full, it takes no others.
class JsonFields {
 public:
  static constexpr std::size_t kFieldsMax = 256;
  static constexpr std::size_t kChildrenMax =
      64;  // So that ids used as keys leave room for others.
  static constexpr std::size_t kNameBytesMax = 64;  // Keys with longer names are passed over.
  static constexpr std::uint8_t kDepthMax = 3;
  static constexpr std::size_t kItemsRead = 16;  // Of each array.

  JsonFields();

  // Counts the keys of a body if it is JSON, and says what it is. `document` is the parsed body.
  BodyKind add(const JsonDocument& document, std::string_view body, ValueBudget& budget);
  void merge(const JsonFields& other, ValueBudget& budget);

  const std::vector<JsonField>& all() const { return fields_; }
  std::optional<std::uint16_t> find(std::uint16_t parent, std::string_view name,
                                    bool in_array) const;

  // For the codec: the counts of the body itself, then each field after its parent. False if there
  // is no room or it is there already.
  void restore_root(const JsonField& root);
  bool restore(JsonField field);
  void restore_full(std::uint16_t field);  // Last, because a full one takes no children.

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
  std::vector<std::uint16_t> slots_;  // An open hash table of indices into fields_.
  std::uint64_t messages_ = 0;        // Seen by this object, to count each once.
};

}  // namespace redrive::dead_letter
