#include "dead_letters/archive/letter.h"

#include <algorithm>

namespace redrive::archive {

const LetterAttribute* Letter::attribute(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &LetterAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string_view Letter::system_attribute(std::string_view name) const {
  for (const auto& [key, value] : system_attributes) {
    if (key == name) return value;
  }
  return {};
}

std::size_t Letter::size() const {
  std::size_t bytes = body.size();
  for (const LetterAttribute& attribute : attributes) {
    bytes += attribute.name.size() + attribute.data_type.size() + attribute.value.size();
  }
  return bytes;
}

}  // namespace redrive::archive
