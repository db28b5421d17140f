#include "manage/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/text.h"

namespace redrive::manage {

std::string_view Call::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &PathParameters::value_type::first);
  assert(found != parameters_.end());
  return found->second;
}

Result<queue::QueueIdentity> Call::queue(std::string_view name) const {
  const std::string_view queue_name = parameter(name);
  if (caller.key != nullptr && !caller.key->covers(queue_name)) {
    return fail(ErrorCode::access_denied,
                fmt::format("User: {} is not authorized to see {}: the key is for other queues",
                            caller.key->arn(),
                            queue_name));
  }
  return queue::QueueIdentity{caller.account, caller.region, std::string(queue_name)};
}

std::string Call::query(std::string_view name) const {
  return std::string(wire::find_query_parameter(decoder(), request.query, {}, name).value_or(""));
}

Result<std::size_t> Call::query_number(std::string_view name, std::size_t otherwise,
                                       std::size_t max) const {
  const std::string text = query(name);
  if (text.empty()) return otherwise;
  const auto number = parse_int<std::size_t>(text);
  if (number && *number >= 1 && *number <= max) return *number;
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("`{}` must be a number from 1 to {}.", name, max));
}

wire::Decoder& Call::decoder() const {
  thread_local wire::Decoder decoder;
  return decoder;
}

}  // namespace redrive::manage
