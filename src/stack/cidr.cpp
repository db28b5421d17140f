#include "stack/cidr.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace redrive::stack {
namespace {

constexpr std::int64_t kBlocksMax = 256;

// An address of either family: 4 or 16 bytes, most significant first.
struct Address {
  int family;
  std::array<std::uint8_t, 16> bytes{};

  std::size_t size() const { return family == AF_INET ? 4 : 16; }
  std::int64_t bits() const { return static_cast<std::int64_t>(size()) * 8; }

  void clear_below(std::int64_t bit_count) {
    for (std::int64_t bit = 0; bit < bit_count; ++bit) {
      bytes[size() - 1 - static_cast<std::size_t>(bit / 8)] &=
          static_cast<std::uint8_t>(~(1u << (bit % 8)));
    }
  }

  // Adds 2^bit; bits are counted from the least significant.
  void add_power(std::int64_t bit) {
    std::size_t at = size() - 1 - static_cast<std::size_t>(bit / 8);
    unsigned carry = 1u << (bit % 8);
    for (; carry != 0; --at) {
      carry += bytes[at];
      bytes[at] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
      if (at == 0) return;
    }
  }

  std::string text() const {
    std::array<char, INET6_ADDRSTRLEN> out{};
    ::inet_ntop(family, bytes.data(), out.data(), out.size());
    return out.data();
  }
};

std::optional<Address> parse_ip(const std::string& text) {
  Address address{.family = text.find(':') == text.npos ? AF_INET : AF_INET6};
  if (::inet_pton(address.family, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

}  // namespace

std::optional<std::vector<std::string>> cidr_blocks(std::string_view block, std::int64_t count,
                                                    std::int64_t bits) {
  const std::size_t slash = block.find('/');
  if (slash == block.npos) return std::nullopt;
  auto address = parse_ip(std::string(block.substr(0, slash)));
  const auto prefix = parse_int<std::int64_t>(block.substr(slash + 1));
  if (!address || !prefix || *prefix < 0 || *prefix > address->bits()) return std::nullopt;
  const std::int64_t free_bits = address->bits() - *prefix;
  if (count < 1 || count > kBlocksMax || bits < 1 || bits > free_bits) return std::nullopt;
  if (free_bits - bits < 9 && count > (std::int64_t{1} << (free_bits - bits))) return std::nullopt;
  address->clear_below(free_bits);
  std::vector<std::string> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    blocks.push_back(fmt::format("{}/{}", address->text(), address->bits() - bits));
    address->add_power(bits);
  }
  return blocks;
}

}  // namespace redrive::stack
