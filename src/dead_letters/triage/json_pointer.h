#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::triage {

// RFC 6901: /order/items/0, with ~1 for a slash and ~0 for a tilde in a name. "" is the whole
// document.
class JsonPointer {
 public:
  static constexpr std::size_t kTokensMax = 64;

  static Result<JsonPointer> parse(std::string_view text);

  const std::vector<std::string>& tokens() const { return tokens_; }
  bool is_root() const { return tokens_.empty(); }
  // Whether `other` points into the value of this pointer.
  bool is_above(const JsonPointer& other) const;

  friend bool operator==(const JsonPointer&, const JsonPointer&) = default;

 private:
  std::vector<std::string> tokens_;
};

// The first `tokens` of a pointer as text.
std::string json_pointer_text(const JsonPointer& pointer, std::size_t tokens);

}  // namespace redrive::triage
