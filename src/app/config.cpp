#include "app/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <algorithm>

#include "base/account.h"
#include "base/calendar.h"
#include "base/text.h"
#include "net/http/browser_guard.h"

namespace redrive::app {
namespace {

std::unexpected<Error> misuse(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

Result<void> check_clock(const Config& config) {
  const std::string& start = config.virtual_clock_start;
  if (start.empty()) return {};
  if (!config.virtual_clock) return misuse("--virtual-clock-start needs --virtual-clock");
  if (parse_utc(start)) return {};
  return misuse(
      fmt::format("--virtual-clock-start {}: expected a time such as 2026-01-01T00:00:00Z", start));
}

Result<void> check_tls(const Config& config) {
  if (config.tls_certificate.empty() == config.tls_key.empty()) return {};
  return misuse("--tls-certificate and --tls-key must be used together");
}

Result<void> check_hosts(const Config& config) {
  for (const std::string& host : config.allowed_hosts) {
    if (http::is_host_pattern(host)) continue;
    return misuse(fmt::format(
        "--allowed-hosts {}: expected a name without port, such as queue.example or *.example",
        host));
  }
  return {};
}

Result<void> check_limits(const http::Limits& limits) {
  if (limits.unfinished_bytes_max / 4 * 3 >= limits.body_bytes_max + limits.head_bytes_max) {
    return {};
  }
  return misuse("limits: unfinished-bytes must not be less than body-bytes");
}

// The command line validates its words itself; a file can contain anything.
Result<void> check_word(std::string_view name, std::string_view word,
                        std::initializer_list<std::string_view> known) {
  if (std::ranges::find(known, word) != known.end()) return {};
  return misuse(fmt::format("{} must be one of: {}", name, fmt::join(known, ", ")));
}

}  // namespace

std::optional<http::TlsFiles> Config::tls() const {
  if (tls_certificate.empty()) return std::nullopt;
  return http::TlsFiles{.certificate = tls_certificate, .key = tls_key};
}

Result<ListenAddress> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : parse_int<std::uint16_t>(text.substr(colon + 1));
  if (!port)
    return misuse(fmt::format(
        "--listen {}: expected ADDRESS:PORT, such as 127.0.0.1:9324 or [::1]:9324", text));
  ListenAddress listen{text.substr(0, colon), *port, false};
  if (listen.address.starts_with('[') && listen.address.ends_with(']')) {
    listen.address = listen.address.substr(1, listen.address.size() - 2);
  }
  if (listen.address == "localhost") listen.address = "127.0.0.1";
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, listen.address.c_str(), &v4) == 1) {
    listen.loopback = (ntohl(v4.s_addr) >> 24) == 127;
  } else if (inet_pton(AF_INET6, listen.address.c_str(), &v6) == 1) {
    listen.loopback = IN6_IS_ADDR_LOOPBACK(&v6);
  } else {
    return misuse(fmt::format("--listen {}: `{}` is not an IP address", text, listen.address));
  }
  return listen;
}

// Everything follows one list. Two exceptions widen it:
// - Without keys, on loopback, a function may run any directory of this machine as its code anyway,
//   so its URL may also be on this machine. That is how functions are developed.
// - [alarms] private-webhooks is older than the list.
Result<OutgoingPolicies> outgoing_policies(const Config& config, const ListenAddress& listen) {
  const auto with = [&](std::vector<std::string> more) -> Result<http::OutgoingPolicyPtr> {
    more.insert(more.end(), config.outgoing_allow.begin(), config.outgoing_allow.end());
    return std::make_shared<const http::OutgoingPolicy>(TRY(http::OutgoingPolicy::parse(more)));
  };
  const bool local = listen.loopback && config.keys.empty();
  using Words = std::vector<std::string>;
  return OutgoingPolicies{
      .destinations = TRY(with({})),
      .functions = TRY(with(local ? Words{"loopback"} : Words{})),
      .webhooks = TRY(with(config.alarm_private_webhooks ? Words{"any"} : Words{}))};
}

Result<void> check_config(const Config& config) {
  if (!is_account(config.account)) {
    return misuse("--account must have 12 digits, such as 000000000000");
  }
  RETURN_IF_ERROR(check_clock(config));
  if (config.region.empty()) return misuse("--region must not be empty");
  RETURN_IF_ERROR(check_word("log-format", config.log_format, {"auto", "text", "json"}));
  RETURN_IF_ERROR(check_word("clock.jump", config.clock_jump, {"wait", "accept", "ignore"}));
  RETURN_IF_ERROR(check_word("sandbox", config.sandbox, {"auto", "off", "required"}));
  RETURN_IF_ERROR(check_tls(config));
  RETURN_IF_ERROR(check_hosts(config));
  RETURN_IF_ERROR(check_limits(config.limits));
  const ListenAddress listen = TRY(parse_listen(config.listen));
  if (!listen.loopback && config.keys.empty() && !config.insecure) {
    return misuse(
        fmt::format("refusing to listen on {}: without keys this server accepts any credentials, "
                    "so any client that can reach it could read and delete messages. Add keys to a "
                    "file for --config (`redrive key new` creates one), listen on 127.0.0.1, or "
                    "pass --insecure if the network controls access.",
                    config.listen));
  }
  return {};
}

}  // namespace redrive::app
