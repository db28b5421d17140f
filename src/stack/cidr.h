#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::stack {

// Fn::Cidr: the first `count` blocks of an IPv4 or IPv6 block, each with `bits` bits for hosts.
// nullopt if the block is malformed, or does not contain that many.
std::optional<std::vector<std::string>> cidr_blocks(std::string_view block, std::int64_t count,
                                                    std::int64_t bits);

}  // namespace redrive::stack
