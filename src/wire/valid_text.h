#pragma once

#include "wire/shape.h"

namespace redrive::wire {

// Whether every text of a record, keys of maps among them, is UTF-8. Encoders replace what is not:
// right for an answer, which must be readable, and wrong for a request, which must not say anything
// else than what was meant. Clients ask this first.
bool has_valid_text(const Record& record, const void* value);
template <class T>
bool has_valid_text(const T& value) {
  return has_valid_text(kRecord<T>, &value);
}

}  // namespace redrive::wire
