#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::http {

// Protects a server without access keys from requests made by web pages (CSRF, DNS rebinding).
//
// Any page open in a browser on this machine can send requests to 127.0.0.1, although it cannot
// read the responses. With a host name of its own that resolves to this server (DNS rebinding) it
// can read them too. Browsers state where a request comes from (Origin, Sec-Fetch-Site, Referer)
// and which host it is for (Host), and pages cannot forge these headers. SDKs and command-line
// tools send only Host.
//
// Referer matters for GET: browsers send no Origin with images and links, and no Sec-Fetch-Site
// over plain HTTP except to loopback names (nor at all before 2023).
class BrowserGuard {
 public:
  // Host names that are accepted besides loopback names: `host` or `*.suffix`, without port.
  // `listen_address` is a literal address; a wildcard address accepts every literal address, since
  // no DNS name parses as one.
  struct Options {
    std::string listen_address;
    std::vector<std::string> allowed_hosts;
  };
  explicit BrowserGuard(Options options);

  // The headers to check; an absent header is an empty string.
  struct Claims {
    std::string_view host;  // With or without port.
    std::string_view origin;
    std::string_view fetch_site;  // Sec-Fetch-Site
    std::string_view referer;
  };
  // Why the request is refused, as a message for the user; nullopt if it is allowed. Pure.
  std::optional<std::string> refusal(const Claims& claims) const;

 private:
  bool is_known(std::string_view host) const;

  Options options_;
  bool any_literal_;
};

// Whether `text` is valid in an allowed-hosts list: `host` or `*.suffix`, without port.
bool is_host_pattern(std::string_view text);

}  // namespace redrive::http
