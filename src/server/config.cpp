#include "server/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/text.h"
#include "http/browser_guard.h"

namespace redrive::server {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;

std::unexpected<Error> misuse(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

template <class T>
bool take(const toml::node& node, T& place) {
  const auto value = node.value_exact<T>();
  if (value) place = *value;
  return value.has_value();
}

bool take_number(const toml::node& node, auto& place) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < 0 || *value > kNumberMax) return false;
  place = std::remove_reference_t<decltype(place)>(*value);
  return true;
}

bool take_list(const toml::node& node, std::vector<std::string>& place) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return false;
  std::vector<std::string> taken;
  for (const toml::node& item : *list) {
    const auto text = item.value_exact<std::string>();
    if (!text) return false;
    taken.push_back(*text);
  }
  place = std::move(taken);
  return true;
}

// A limit of nothing would be a server that serves nobody.
template <class Place>
bool take_limit(const toml::node& node, Place& place, std::int64_t max) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < 1 || *value > max) return false;
  if constexpr (std::is_integral_v<Place>) {
    place = static_cast<Place>(*value);
  } else {
    place = std::chrono::seconds(*value);
  }
  return true;
}

// Bytes and counts as they are, times in seconds.
bool set_limit(http::Limits& limits, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "connections") return take_limit(node, limits.connections_max, kNumberMax);
  if (key == "head-bytes") return take_limit(node, limits.head_bytes_max, kBytesMax);
  if (key == "headers") return take_limit(node, limits.headers_max, kNumberMax);
  if (key == "body-bytes") return take_limit(node, limits.body_bytes_max, kBytesMax);
  if (key == "unfinished-bytes") return take_limit(node, limits.unfinished_bytes_max, kBytesMax);
  if (key == "unsent-bytes") return take_limit(node, limits.unsent_bytes_max, kBytesMax);
  if (key == "request-time") return take_limit(node, limits.request_time_max, kNumberMax);
  if (key == "idle-time") return take_limit(node, limits.idle_time_max, kNumberMax);
  if (key == "reply-time") return take_limit(node, limits.reply_time_max, kNumberMax);
  known = false;
  return false;
}

bool set_key(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "listen") return take(node, config.listen);
  if (key == "data") return take(node, config.data);
  if (key == "memory") return take(node, config.memory);
  if (key == "region") return take(node, config.region);
  if (key == "account") return take(node, config.account);
  if (key == "threads") return take_number(node, config.threads);
  if (key == "strict-timing") return take(node, config.strict_timing);
  if (key == "insecure") return take(node, config.insecure);
  if (key == "log-level") return take(node, config.log_level);
  if (key == "drain-time") return take_number(node, config.drain_time);
  if (key == "tls-certificate") return take(node, config.tls_certificate);
  if (key == "tls-key") return take(node, config.tls_key);
  if (key == "allowed-hosts") return take_list(node, config.allowed_hosts);
  known = false;
  return false;
}

// `set` applies one key and tells whether it knows it and could use its value.
template <class Set>
Result<void> set_all(const std::string& path, const toml::table& table, std::string_view prefix,
                     Set set) {
  for (const auto& [key, node] : table) {
    bool known = false;
    if (set(key.str(), node, known)) continue;
    const auto line = node.source().begin.line;
    return misuse(fmt::format("{}:{}: {} `{}{}`",
                              path,
                              line,
                              known ? "unusable value for" : "unknown setting",
                              prefix,
                              key.str()));
  }
  return {};
}

Result<void> check_tls(const Config& config) {
  if (config.tls_certificate.empty() == config.tls_key.empty()) return {};
  return misuse("--tls-certificate and --tls-key need each other");
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
  return misuse("limits: unfinished-bytes is too small for a single request of body-bytes");
}

}  // namespace

std::optional<http::TlsFiles> Config::tls() const {
  if (tls_certificate.empty()) return std::nullopt;
  return http::TlsFiles{.certificate = tls_certificate, .key = tls_key};
}

Result<void> load_config(const std::string& path, Config& config) {
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const auto& where = parsed.error().source().begin;
    return misuse(fmt::format(
        "{}:{}:{}: {}", path, where.line, where.column, std::string(parsed.error().description())));
  }
  toml::table table = parsed.table();
  if (const toml::table* const limits = table["limits"].as_table()) {
    CHECK(set_all(path, *limits, "limits.", [&](auto key, const toml::node& node, bool& known) {
      return set_limit(config.limits, key, node, known);
    }));
    table.erase("limits");
  }
  return set_all(path, table, "", [&](auto key, const toml::node& node, bool& known) {
    return set_key(config, key, node, known);
  });
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

Result<void> check_config(const Config& config) {
  const bool digits =
      std::ranges::all_of(config.account, [](char c) { return c >= '0' && c <= '9'; });
  if (config.account.size() != 12 || !digits)
    return misuse("--account must have 12 digits, such as 000000000000");
  if (config.region.empty()) return misuse("--region must not be empty");
  CHECK(check_tls(config));
  CHECK(check_hosts(config));
  CHECK(check_limits(config.limits));
  const ListenAddress listen = TRY(parse_listen(config.listen));
  if (!listen.loopback && !config.insecure) {
    return misuse(
        fmt::format("refusing to listen on {}: this server accepts any credentials, so anybody who "
                    "can reach it could read and delete "
                    "messages. Listen on 127.0.0.1, or say --insecure if the network in front of "
                    "it does the checking.",
                    config.listen));
  }
  return {};
}

}  // namespace redrive::server
