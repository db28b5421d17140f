#include "net/wire/valid_text.h"

#include <algorithm>

#include "base/text.h"

namespace redrive::wire {
namespace {

bool is_valid_value(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::text:
      return is_utf8(*static_cast<const std::string_view*>(value));
    case Kind::optional: {
      const void* const held = type.held(value);
      return held == nullptr || is_valid_value(*type.inner, held);
    }
    case Kind::list:
    case Kind::map:
      for (std::size_t i = 0; i < type.size(value); ++i) {
        if (type.kind == Kind::map && !is_utf8(type.key(value, i))) return false;
        if (!is_valid_value(*type.inner, type.item(value, i))) return false;
      }
      return true;
    case Kind::record:
      return has_valid_text(*type.record, value);
    default:
      return true;
  }
}

}  // namespace

bool has_valid_text(const Record& record, const void* value) {
  return std::ranges::all_of(record.fields, [&](const Field& field) {
    return is_valid_value(*field.type, field.of(value));
  });
}

}  // namespace redrive::wire
