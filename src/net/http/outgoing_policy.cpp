#include "net/http/outgoing_policy.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "net/http/browser_guard.h"

namespace redrive::http {
namespace {

using Address = OutgoingPolicy::Address;

constexpr unsigned kV4Offset = 96;  // Prefix bits of a mapped IPv4 address.

struct V4Network {
  std::array<std::uint8_t, 4> address;
  unsigned bits;
};

// This host, private use, shared address space, link-local, documentation, benchmarks, multicast
// and reserved.
constexpr V4Network kNotPublic[] = {
    {{0, 0, 0, 0}, 8},
    {{10, 0, 0, 0}, 8},
    {{100, 64, 0, 0}, 10},
    {{127, 0, 0, 0}, 8},
    {{169, 254, 0, 0}, 16},
    {{172, 16, 0, 0}, 12},
    {{192, 0, 0, 0}, 24},
    {{192, 0, 2, 0}, 24},
    {{192, 88, 99, 0}, 24},
    {{192, 168, 0, 0}, 16},
    {{198, 18, 0, 0}, 15},
    {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24},
    {{224, 0, 0, 0}, 4},
    {{240, 0, 0, 0}, 4},
};

struct Word {
  std::string_view name;
  std::span<const std::string_view> networks;
};
constexpr std::string_view kLoopback[] = {"127.0.0.0/8", "::1"};
constexpr std::string_view kPrivate[] = {
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"};
constexpr std::string_view kAny[] = {"::/0"};
constexpr Word kWords[] = {{"loopback", kLoopback}, {"private", kPrivate}, {"any", kAny}};

bool same_bits(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
  for (unsigned bit = 0; bit < bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % 8));
    if (((a[bit / 8] ^ b[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

bool is_public_v4(const std::uint8_t* address) {
  return std::ranges::none_of(kNotPublic, [&](const V4Network& network) {
    return same_bits(address, network.address.data(), network.bits);
  });
}

Address mapped(const void* v4) {
  Address bytes{};
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(bytes.data() + 12, v4, 4);
  return bytes;
}

std::optional<Address> parse_address(std::string_view text) {
  const std::string copy(text);
  Address bytes{};
  if (inet_pton(AF_INET, copy.c_str(), bytes.data()) == 1) return mapped(bytes.data());
  if (inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return bytes;
  return std::nullopt;
}

bool begins_with(const Address& address, std::span<const std::uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

bool is_public(const Address& address) {
  constexpr std::uint8_t kMapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::uint8_t kTranslated[] = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
  if (begins_with(address, kMapped) || begins_with(address, kTranslated)) {
    return is_public_v4(address.data() + 12);
  }
  // Only 2000::/3 is globally routed, and within it not 2001::/23 (protocols such as Teredo that
  // embed IPv4 addresses), 2001:db8::/32 (documentation) and 2002::/16 (6to4).
  constexpr std::uint8_t kDocumentation[] = {0x20, 0x01, 0x0d, 0xb8};
  const bool protocols = address[0] == 0x20 && address[1] == 0x01 && (address[2] & 0xfe) == 0;
  const bool six_to_four = address[0] == 0x20 && address[1] == 0x02;
  return (address[0] & 0xe0) == 0x20 && !protocols && !six_to_four &&
         !begins_with(address, kDocumentation);
}

std::optional<Address> bytes_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return mapped(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  Address bytes{};
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  return bytes;
}

bool matches_host(std::string_view host, std::string_view pattern) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (!pattern.starts_with("*.")) return iequals(host, pattern);
  pattern.remove_prefix(1);  // Keeps the dot.
  return host.size() > pattern.size() &&
         iequals(host.substr(host.size() - pattern.size()), pattern);
}

}  // namespace

bool OutgoingPolicy::is_within(const Address& address, const Network& network) {
  return same_bits(address.data(), network.address.data(), network.bits);
}

std::optional<OutgoingPolicy::Network> OutgoingPolicy::parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view base = text.substr(0, slash);
  const auto address = parse_address(base);
  if (!address) return std::nullopt;
  const unsigned offset = base.find(':') == base.npos ? kV4Offset : 0;
  if (slash == text.npos) return Network{*address, 128};
  const auto bits = parse_int<unsigned>(text.substr(slash + 1));
  if (!bits || *bits + offset > 128) return std::nullopt;
  return Network{*address, *bits + offset};
}

Result<OutgoingPolicy> OutgoingPolicy::parse(std::span<const std::string> allowed) {
  OutgoingPolicy policy;
  for (const std::string& entry : allowed) {
    if (const auto word = std::ranges::find(kWords, entry, &Word::name); word != std::end(kWords)) {
      for (const std::string_view network : word->networks) {
        policy.networks_.push_back(*parse_network(network));
      }
    } else if (const auto network = parse_network(entry)) {
      policy.networks_.push_back(*network);
    } else if (is_host_pattern(entry)) {
      policy.hosts_.push_back(entry);
    } else {
      return fail(ErrorCode::usage,
                  fmt::format("`{}` is neither an address, a network (10.1.0.0/16), a host name, "
                              "nor one of loopback, private and any",
                              entry));
    }
  }
  return policy;
}

bool OutgoingPolicy::permits(std::string_view host, const sockaddr& address) const {
  const auto bytes = bytes_of(address);
  return bytes && permits_bytes(host, *bytes);
}

bool OutgoingPolicy::permits(std::string_view host, std::string_view address) const {
  const auto bytes = parse_address(address);
  return bytes && permits_bytes(host, *bytes);
}

bool OutgoingPolicy::permits_bytes(std::string_view host, const Address& address) const {
  const auto covers = [&](const Network& network) { return is_within(address, network); };
  const auto names = [&](const std::string& pattern) { return matches_host(host, pattern); };
  return is_public(address) || std::ranges::any_of(networks_, covers) ||
         std::ranges::any_of(hosts_, names);
}

bool is_public_address(std::string_view address) {
  const auto bytes = parse_address(address);
  return bytes && is_public(*bytes);
}

}  // namespace redrive::http
