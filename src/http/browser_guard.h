#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::http {

// Keeps web pages away from a server that asks nobody for a key.
//
// Any page that somebody on this machine opens may send requests to 127.0.0.1, without being able
// to read the answers; and with a name of its own that it lets point here (DNS rebinding) it may
// read them too. Browsers say where a request comes from (Origin, Sec-Fetch-Site, Referer) and
// which name was asked for (Host), and pages cannot forge these. SDKs and tools send only Host.
//
// Referer matters for GET: browsers send no Origin with images and links, and no Sec-Fetch-Site to
// plain http except to loopback names (nor at all before 2023).
class BrowserGuard {
 public:
  // Names under which the server may be asked for besides those of the loopback: `host` or
  // `*.suffix`, without port. `listen_address` is a literal one; a wildcard stands for all literal
  // addresses, which no DNS name can be mistaken for.
  struct Options {
    std::string listen_address;
    std::vector<std::string> allowed_hosts;
  };
  explicit BrowserGuard(Options options);

  // What a request says of itself; an absent header is an empty text.
  struct Claims {
    std::string_view host;  // With or without port.
    std::string_view origin;
    std::string_view fetch_site;  // Sec-Fetch-Site
    std::string_view referer;
  };
  // Why the request is refused, for people, or nothing. Pure.
  std::optional<std::string> refusal(const Claims& claims) const;

 private:
  bool is_known(std::string_view host) const;

  Options options_;
  bool any_literal_;
};

// Whether a name of an allowed-hosts list can mean something: `host` or `*.suffix`, without port.
bool is_host_pattern(std::string_view text);

}  // namespace redrive::http
