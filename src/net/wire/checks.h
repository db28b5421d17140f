#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/wire/arena.h"
#include "net/wire/type.h"

// What all decoders share: limits, the presence and range rules of a shape, and the error messages.

namespace redrive::wire {

inline constexpr std::size_t kListItemsMax = 10'000;
// Duplicate keys are found by comparing all pairs.
inline constexpr std::size_t kMapItemsMax = 1'000;

// A decoder's position in the request: the list items it has entered, innermost first.
struct Path {
  const Path* outer = nullptr;
  std::string_view item_name;
  std::size_t number = 0;  // From 1, as in Query; 0 for a Query item without a number.
};

// A field being decoded. `content` is inherited: everything inside a message attribute is content.
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

// Stores `value` in an int32 or int64; fails if it does not fit.
Result<void> put_integer(const Spot& spot, const Type& type, std::int64_t value, void* out);
// Parses any scalar except text. False: the text is not valid for the type.
Result<bool> parse_scalar(const Spot& spot, const Type& type, std::string_view text, Arena& arena,
                          void* out);

// A time from seconds since 1970; nothing: the calendar does not have it.
std::optional<Timestamp> time_of_seconds(double seconds);

// Checks a decoded record against its shape: first that the required members are present (bit i of
// `seen` is field i), then the ranges.
Result<void> check_record(const Record& record, const void* value, std::uint64_t seen,
                          const Path* path);

}  // namespace redrive::wire
