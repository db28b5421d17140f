#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/arena.h"
#include "wire/type.h"

// What every decoder has in common: bounds, the presence and range rules of a shape, and the words
// in which a request is refused.

namespace redrive::wire {

inline constexpr std::size_t kListItemsMax = 10'000;
inline constexpr std::size_t kMapItemsMax = 1'000;  // Keys are compared with each other.

// Where in the request a decoder stands: the list items it has entered, innermost first.
struct Path {
  const Path* outer = nullptr;
  std::string_view item_name;
  std::size_t number = 0;  // From 1, as in Query; 0 for a Query item without number.
};

// A field being read. Content is inherited: what lies inside a message attribute is content too.
struct Spot {
  const Field& field;
  const Path* path;
  bool content;
};

inline Spot spot_of(const Field& field, const Path* path, bool content) {
  return {field, path, content || field.traits.content};
}

// "SendMessageBatchRequestEntry.2.Id"
std::string full_name(const Path* path, std::string_view name);

std::unexpected<Error> malformed(const Spot& spot, std::string_view expected);
std::unexpected<Error> invalid_value(const Spot& spot, std::string_view value);
std::unexpected<Error> too_many_items(const Spot& spot);
std::unexpected<Error> unknown_member(const Path* path, std::string_view name);

// Writes `value` to an int32 or int64, unless it does not fit.
Result<void> put_integer(const Spot& spot, const Type& type, std::int64_t value, void* out);
// Reads any scalar but text from its text. False: the text is no such thing.
Result<bool> parse_scalar(const Spot& spot, const Type& type, std::string_view text, Arena& arena,
                          void* out);

// Holds a decoded record to its shape: first that the required members came (bit i of `seen` is
// field i), then the ranges.
Result<void> check_record(const Record& record, const void* value, std::uint64_t seen,
                          const Path* path);

}  // namespace redrive::wire
