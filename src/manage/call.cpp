#include "manage/call.h"

#include <algorithm>
#include <cassert>

namespace redrive::manage {

std::string_view Call::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &PathParameters::value_type::first);
  assert(found != parameters_.end());
  return found->second;
}

wire::Decoder& Call::decoder() const {
  thread_local wire::Decoder decoder;
  return decoder;
}

}  // namespace redrive::manage
