#include "server/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "server/key_config.h"
#include "server/toml.h"

namespace redrive::server {
namespace {

std::unexpected<Error> misuse(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
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
  if (key == "virtual-clock") return take(node, config.virtual_clock);
  if (key == "virtual-clock-start") return take(node, config.virtual_clock_start);
  if (key == "insecure") return take(node, config.insecure);
  if (key == "audit-log") return take(node, config.audit_log);
  if (key == "waiting-receives") return take_number(node, config.waiting_receives_max);
  if (key == "log-level") return take(node, config.log_level);
  if (key == "drain-time") return take_number(node, config.drain_time);
  known = false;
  return false;
}

Result<void> check_clock(const Config& config) {
  const std::string& start = config.virtual_clock_start;
  if (start.empty()) return {};
  if (!config.virtual_clock) return misuse("--virtual-clock-start needs --virtual-clock");
  if (parse_utc(start)) return {};
  return misuse(
      fmt::format("--virtual-clock-start {}: expected a time such as 2026-01-01T00:00:00Z", start));
}

}  // namespace

Result<void> load_config(const std::string& path, Config& config) {
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const auto& where = parsed.error().source().begin;
    return misuse(fmt::format(
        "{}:{}:{}: {}", path, where.line, where.column, std::string(parsed.error().description())));
  }
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() == "key") {
      config.keys = TRY(read_keys(node, path));
      continue;
    }
    bool known = false;
    if (set_key(config, key.str(), node, known)) continue;
    const auto line = node.source().begin.line;
    return misuse(fmt::format(
        "{}:{}: {} `{}`", path, line, known ? "unusable value for" : "unknown setting", key.str()));
  }
  return {};
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
  CHECK(check_clock(config));
  if (config.region.empty()) return misuse("--region must not be empty");
  const ListenAddress listen = TRY(parse_listen(config.listen));
  if (!listen.loopback && config.keys.empty() && !config.insecure) {
    return misuse(fmt::format(
        "refusing to listen on {}: without keys this server accepts any credentials, so anybody "
        "who can reach it could read and delete messages. Declare keys in a file for --config "
        "(`redrive key new` writes one), listen on 127.0.0.1, or say --insecure if the network in "
        "front of it does the checking.",
        config.listen));
  }
  return {};
}

}  // namespace redrive::server
