#pragma once

#include <string>
#include <string_view>

namespace redrive::dead_letter {

inline constexpr std::size_t kMessageBytesRead = 4096;

// What becomes of a quoted word that could be a name in a program.
enum class QuotedNames {
  keep_compound,  // 'store_id', 'orderId' and 'order.item' stay, 'alice' does not.
  keep_all,       // The error is about names (KeyError: 'sku'), so any name stays.
};

// An error message without what changes from message to message: numbers, hexadecimal digits,
// UUIDs, ids, quoted strings, dates, e-mail addresses, URLs and paths become placeholders such as
// <number>; runs of white space become one space. Reads at most kMessageBytesRead bytes.
std::string normalise_message(std::string_view message, QuotedNames names);

// A key or file name without the ids that may be part of it.
std::string normalise_name(std::string_view name);

}  // namespace redrive::dead_letter
