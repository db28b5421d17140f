#pragma once

#include <string>
#include <string_view>

#include "net/wire/type.h"

namespace redrive::wire {

// Appends a flag, a number, a time, a UUID, a digest or a blob. The text is the same in every
// protocol, except for times in JSON, and never needs escaping (except a blob's base64 in Query).
// `type` must not be a text, optional, collection or record.
void append_scalar(std::string& out, const Type& type, const void* value);

// Whether JSON writes the value without quotes.
constexpr bool is_json_literal(const Type& type) {
  return type.kind == Kind::flag || type.kind == Kind::int32 || type.kind == Kind::int64 ||
         type.kind == Kind::number || type.kind == Kind::decimal;
}

}  // namespace redrive::wire
