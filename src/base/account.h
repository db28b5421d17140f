#pragma once

#include <algorithm>
#include <string_view>

namespace redrive {

// An AWS account id: twelve digits.
inline bool is_account(std::string_view text) {
  return text.size() == 12 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace redrive
