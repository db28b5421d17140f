#pragma once

#include <functional>
#include <string_view>

#include "net/wire/shape.h"

// Members marked sensitive() may contain what a user sent or a handler wrote: bodies, attributes,
// errors, logs. All of them are rewritten here before a response is sent to a caller that must not
// see secrets, so that no operation can forget one.

namespace redrive::wire {

// Returns the text to show instead. `name` is the key of the innermost map that contains the text,
// such as the name of a message attribute; empty outside maps. The result must live as long as the
// record.
using Rewrite = std::function<std::string_view(std::string_view name, std::string_view text)>;

// Rewrites every sensitive text and blob of a record, recursively.
void rewrite_sensitive(const Record& record, void* value, const Rewrite& rewrite);
template <class T>
void rewrite_sensitive(T& value, const Rewrite& rewrite) {
  rewrite_sensitive(kRecord<T>, &value, rewrite);
}

// Whether a record, or a record inside it, has sensitive members.
constexpr bool has_sensitive(const Record& record);

namespace detail {

constexpr bool leads_to_sensitive(const Type& type) {
  if (type.kind == Kind::record) return has_sensitive(*type.record);
  return type.inner != nullptr && leads_to_sensitive(*type.inner);
}

}  // namespace detail

constexpr bool has_sensitive(const Record& record) {
  for (const Field& field : record.fields) {
    if (field.traits.sensitive || detail::leads_to_sensitive(*field.type)) return true;
  }
  return false;
}

}  // namespace redrive::wire
