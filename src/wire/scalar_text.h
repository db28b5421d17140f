#pragma once

#include <string>
#include <string_view>

#include "wire/type.h"

namespace redrive::wire {

// The characters that stand for a flag, a number, a UUID, a digest or a blob. In every protocol the
// same, and none of them ever needs an escape (a blob's base64 does in Query). `type` is no
// text, optional, collection or record.
void append_scalar(std::string& out, const Type& type, const void* value);

// Whether JSON writes the value without quotes.
constexpr bool is_json_literal(const Type& type) {
  return type.kind == Kind::flag || type.kind == Kind::int32 || type.kind == Kind::int64 ||
         type.kind == Kind::number;
}

}  // namespace redrive::wire
