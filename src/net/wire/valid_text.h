#pragma once

#include "net/wire/shape.h"

namespace redrive::wire {

// Whether every text of a record, including map keys, is UTF-8. Encoders replace invalid bytes,
// which is right for a response but would silently change a request, so clients check this first.
bool has_valid_text(const Record& record, const void* value);
template <class T>
bool has_valid_text(const T& value) {
  return has_valid_text(kRecord<T>, &value);
}

}  // namespace redrive::wire
