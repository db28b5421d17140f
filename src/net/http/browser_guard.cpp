#include "net/http/browser_guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace redrive::http {

namespace {

struct Authority {
  std::string_view host;  // Without brackets.
  std::string_view port;  // Empty when absent.
};

Authority split_authority(std::string_view text) {
  const std::size_t name_end = text.starts_with('[') ? text.find(']') : 0;
  if (name_end == std::string_view::npos) return {.host = text, .port = {}};
  const std::size_t colon = text.find(':', name_end);
  Authority result{.host = text.substr(0, colon), .port = {}};
  if (colon != std::string_view::npos) result.port = text.substr(colon + 1);
  if (name_end > 0) result.host = text.substr(1, name_end - 1);
  // A fully qualified name's root dot.
  if (result.host.ends_with('.')) result.host.remove_suffix(1);
  return result;
}

// Parses a literal address; nullopt for a name. The whole text must be an address:
// 127.0.0.1.example.com is a name.
std::optional<in_addr> as_v4(std::string_view host) {
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 ? std::optional(address)
                                                                      : std::nullopt;
}
std::optional<in6_addr> as_v6(std::string_view host) {
  in6_addr address{};
  return inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1 ? std::optional(address)
                                                                       : std::nullopt;
}

bool is_literal(std::string_view host) {
  return as_v4(host) || as_v6(host);
}

bool ends_with_label(std::string_view host, std::string_view suffix) {
  return host.size() > suffix.size() && iequals(host.substr(host.size() - suffix.size()), suffix) &&
         host[host.size() - suffix.size() - 1] == '.';
}

bool is_loopback(std::string_view host) {
  if (host == "127.0.0.1") return true;  // Fast path: nearly every request.
  if (iequals(host, "localhost") || ends_with_label(host, "localhost")) return true;
  if (const auto v4 = as_v4(host)) return ntohl(v4->s_addr) >> 24 == 127;
  const auto v6 = as_v6(host);
  return v6 && IN6_IS_ADDR_LOOPBACK(&*v6);
}

bool same_address(std::string_view a, std::string_view b) {
  if (const auto first = as_v6(a), second = as_v6(b); first && second) {
    return IN6_ARE_ADDR_EQUAL(&*first, &*second);
  }
  return iequals(a, b);
}

bool matches(std::string_view host, std::string_view pattern) {
  if (pattern.starts_with("*.")) return ends_with_label(host, pattern.substr(2));
  return iequals(host, pattern);
}

std::string_view default_port(std::string_view scheme) {
  return iequals(scheme, "https") ? "443" : "80";
}

// Whether `origin` has the same host and port as the request's Host.
bool is_same_origin(std::string_view origin, std::string_view host) {
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;
  const std::string_view scheme = origin.substr(0, scheme_end);
  if (!iequals(scheme, "http") && !iequals(scheme, "https")) return false;
  Authority page = split_authority(origin.substr(scheme_end + 3));
  Authority asked = split_authority(host);
  if (page.port.empty()) page.port = default_port(scheme);
  if (asked.port.empty()) asked.port = default_port(scheme);
  return !asked.host.empty() && iequals(page.host, asked.host) && page.port == asked.port;
}

// The scheme and authority of a URL, without user information.
std::string origin_of(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url.substr(0, 64));
  const std::size_t begin = scheme_end + 3;
  const std::size_t end = std::min(url.find_first_of("/?#\\", begin), url.size());
  std::string_view authority = url.substr(begin, end - begin);
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    authority.remove_prefix(at + 1);
  }
  return std::string(url.substr(0, begin)).append(authority);
}

}  // namespace

BrowserGuard::BrowserGuard(Options options)
    : options_(std::move(options)),
      any_literal_(options_.listen_address == "0.0.0.0" || options_.listen_address == "::") {}

bool BrowserGuard::is_known(std::string_view host) const {
  if (is_loopback(host) || same_address(host, options_.listen_address)) return true;
  if (any_literal_ && is_literal(host)) return true;
  return std::ranges::any_of(options_.allowed_hosts,
                             [&](const std::string& pattern) { return matches(host, pattern); });
}

std::optional<std::string> BrowserGuard::refusal(const Claims& claims) const {
  const std::string_view host = split_authority(claims.host).host;
  // Browsers always send Host; a request without it comes from an HTTP/1.0 tool.
  if (!claims.host.empty() && !is_known(host)) {
    return fmt::format(
        "This server runs without keys and does not accept the host name `{}`, because any web "
        "page could make a name point here. If it is yours, add it to allowed-hosts in "
        "redrive.toml or start with --allowed-hosts {}.",
        host,
        host);
  }
  if (!claims.origin.empty() && !is_same_origin(claims.origin, claims.host)) {
    return fmt::format(
        "This server runs without keys and refuses requests from web pages of other origins; this "
        "one comes from `{}`.",
        claims.origin);
  }
  if (!claims.referer.empty() && !is_same_origin(origin_of(claims.referer), claims.host)) {
    return fmt::format(
        "This server runs without keys and refuses requests from web pages of other origins; this "
        "one was sent by a page of `{}` (Referer).",
        origin_of(claims.referer));
  }
  const bool own = claims.fetch_site.empty() || iequals(claims.fetch_site, "same-origin") ||
                   iequals(claims.fetch_site, "none");
  if (own) return std::nullopt;
  return fmt::format(
      "This server runs without keys and refuses requests from other web sites (Sec-Fetch-Site: "
      "{}).",
      claims.fetch_site);
}

bool is_host_pattern(std::string_view text) {
  if (text.starts_with("*.")) text.remove_prefix(2);
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

}  // namespace redrive::http
