#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dead_letters/triage/json_fields.h"

// One message as a short list of hashed facts, for comparisons that need whole messages: ranges,
// lengths, high-cardinality values, and combinations of two features.

namespace redrive::triage {

class JsonDocument;
struct MessageView;

// The subject of a fact: an attribute, a JSON path, or a property of the delivery.
using PathHash = std::uint32_t;

// Stable: stored in data directories.
PathHash path_hash(PathHash parent, std::string_view step);
PathHash path_hash(std::span<const std::string> place);
std::uint64_t text_hash(std::string_view text);

// Facts about the delivery. Their paths have one step, unlike those of attributes and keys.
inline constexpr std::string_view kConsumerPlace = "consumer";
inline constexpr std::string_view kHostPlace = "host";
inline constexpr std::string_view kVersionPlace = "code version";
inline constexpr std::string_view kHourPlace = "hour";
inline constexpr std::string_view kAgePlace = "age";    // Seconds until the first attempt.
inline constexpr std::string_view kSentPlace = "sent";  // Milliseconds since 1970.

struct RowEntry {
  std::uint64_t value = 0;  // A number's bits, a text's hash, 0 or 1, or an array's length.
  PathHash path = 0;
  std::uint16_t length = 0;  // Of texts, in characters.
  std::uint8_t patterns = 0;
  JsonType type = JsonType::null;

  friend auto operator<=>(const RowEntry& a, const RowEntry& b) = default;
};
static_assert(sizeof(RowEntry) == 16);

double number_in(const RowEntry& entry);
// The order of entries in a row: by path, type and value.
bool comes_before(const RowEntry& a, const RowEntry& b);

struct Row {
  static constexpr std::size_t kEntriesMax = 64;

  std::vector<RowEntry> entries;  // Sorted by path, type and value; unique.
  bool body_read = true;          // False: the body was too large to be parsed.
  bool cut = false;  // It had more than kEntriesMax, so a missing one may have been left out.

  friend bool operator==(const Row&, const Row&) = default;
};

// The names behind the hashes of rows. Kept for dead letters while they are compared.
class RowNames {
 public:
  struct Path {
    std::string path;                // order.items[].sku
    std::string filter;              // body.$.order.items[*].sku
    std::vector<std::string> place;  // {"body", "order", "items", "[]", "sku"}
  };
  static constexpr std::size_t kTextBytesMax = 64;  // Longer values have no name.

  void add_path(PathHash hash, Path path);
  void add_text(std::uint64_t hash, std::string_view text);
  const Path* find(PathHash hash) const;
  const std::string* text(std::uint64_t hash) const;

 private:
  std::unordered_map<PathHash, Path> paths_;
  std::unordered_map<std::uint64_t, std::string> texts_;
};

// The facts of one message with its parsed body. Fills in `names` if given. Values under names like
// "password" are left out.
Row read_row(const MessageView& message, const JsonDocument& document, RowNames* names);

}  // namespace redrive::triage
