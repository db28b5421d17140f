#pragma once

#include <algorithm>
#include <string_view>

namespace redrive {

// Twelve digits, as AWS numbers its customers.
inline bool is_account(std::string_view text) {
  return text.size() == 12 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace redrive
