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

// Which addresses the server connects to on behalf of its clients.
//
// A client that may name a URL (a webhook of an alarm, a destination of a mapping, a function of
// runtime http) could otherwise make the server call anything that the server's machine reaches:
// services on its loopback interface, its private network, the metadata service of its cloud. So
// only public addresses are permitted, and those that the operator lists.
//
// The check belongs to the moment of connecting, after names have been resolved: what a name
// resolved to earlier proves nothing. Immutable, so threads share one freely.
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

  // Whether a connection to this address may be opened for a request to `host`, as the URL has it.
  bool permits(std::string_view host, const sockaddr& address) const;
  // The same for an address as text; false for what is none.
  bool permits(std::string_view host, std::string_view address) const;

  // As bytes of IPv6; IPv4 addresses are mapped (::ffff:a.b.c.d).
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

// Why a connection was not opened, and what to do about it; follows the name of the target.
inline constexpr std::string_view kNotPermitted =
    "it resolves to an address of this machine or of a private network; list the address, network "
    "or host under [outgoing] allow in redrive.toml to permit it";

// Whether an address, IPv4 or IPv6 as text, is one of the public Internet: not of this machine, of
// its networks, or of no particular place.
bool is_public_address(std::string_view address);

}  // namespace redrive::http
