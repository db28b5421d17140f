#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::http {

// Which addresses the server may connect to on behalf of its clients.
//
// A client that can name a URL (an alarm's webhook, a mapping's destination, a function with
// runtime http) could otherwise make the server call anything its machine can reach (SSRF):
// services on the loopback interface, the private network, the cloud's metadata service. So only
// public addresses are permitted, and those that the operator lists.
//
// Addresses are checked when connecting, after name resolution: the result of an earlier lookup
// proves nothing. Immutable, so threads can share one instance.
class OutgoingPolicy {
 public:
  // Public addresses only.
  OutgoingPolicy() = default;

  // Public addresses and what `allowed` lists. Each entry is an address, a network (10.1.0.0/16,
  // fd00::/8), a host name or *.suffix, or one of the words
  //   loopback  127.0.0.0/8, ::1
  //   private   10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7
  //   any       everything, link-local addresses included
  static Result<OutgoingPolicy> parse(std::span<const std::string> allowed);

  // Whether a request to `host`, as written in the URL, may connect to this address.
  bool permits(std::string_view host, const sockaddr& address) const;
  // The same for an address as text; false if it is not an address.
  bool permits(std::string_view host, std::string_view address) const;

  // IPv6 bytes; IPv4 addresses are mapped (::ffff:a.b.c.d).
  using Address = std::array<std::uint8_t, 16>;

 private:
  struct Network {
    Address address{};
    unsigned bits = 0;
  };
  static std::optional<Network> parse_network(std::string_view text);
  static bool is_within(const Address& address, const Network& network);
  bool permits_bytes(std::string_view host, const Address& address) const;

  std::vector<Network> networks_;
  std::vector<std::string> hosts_;
};

using OutgoingPolicyPtr = std::shared_ptr<const OutgoingPolicy>;

// Why a connection was not opened and how to permit it; appended to the target's name.
inline constexpr std::string_view kNotPermitted =
    "it resolves to an address on this machine or in a private network; add the address, network "
    "or host to [outgoing] allow in redrive.toml to permit it";

// Whether a textual IPv4 or IPv6 address is globally routable: not loopback, private, link-local,
// multicast or reserved.
bool is_public_address(std::string_view address);

}  // namespace redrive::http
