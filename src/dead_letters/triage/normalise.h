#pragma once

#include <string>
#include <string_view>

namespace redrive::triage {

inline constexpr std::size_t kMessageBytesRead = 4096;

// How to treat a quoted word that could be an identifier.
enum class QuotedNames {
  keep_compound,  // Keep 'store_id', 'orderId' and 'order.item', but not 'alice'.
  keep_all,       // The error is about identifiers (KeyError: 'sku'), so keep all.
};

// An error message without its variable parts: numbers, hexadecimal digits, UUIDs, ids, quoted
// strings, dates, e-mail addresses, URLs and paths become placeholders such as <number>; runs of
// white space become one space. Reads at most kMessageBytesRead bytes.
std::string normalise_message(std::string_view message, QuotedNames names);

// A key or file name without embedded ids.
std::string normalise_name(std::string_view name);

}  // namespace redrive::triage
