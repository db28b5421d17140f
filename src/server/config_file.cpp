// Reading redrive.toml.

#include <fmt/format.h>

#include <algorithm>

#include "alarms/target.h"
#include "http/outgoing_policy.h"

#include "server/config.h"
#include "server/key_config.h"
#include "server/policy_config.h"
#include "server/toml.h"
#include "stack/sections.h"

namespace redrive::server {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;

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

// A server that is root gives each process a user of its own, out of a range of this size.
constexpr std::int64_t kFunctionProcessesMax = runtime::kFunctionUsers;

// Bytes and counts as they are, times in seconds.
bool set_limit(Config& config, std::string_view key, const toml::node& node, bool& known) {
  http::Limits& limits = config.limits;
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
  if (key == "waiting-receives") {
    return take_limit(node, config.waiting_receives_max, kNumberMax);
  }
  if (key == "function-processes") {
    return take_limit(node, config.function_processes_max, kFunctionProcessesMax);
  }
  if (key == "object-bytes") return take_limit(node, config.object_bytes_max, kBytesMax);
  if (key == "requests-per-second") {
    return take_limit(node, config.requests_per_second_max, kNumberMax);
  }
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
  if (key == "virtual-clock") return take(node, config.virtual_clock);
  if (key == "virtual-clock-start") return take(node, config.virtual_clock_start);
  if (key == "insecure") return take(node, config.insecure);
  if (key == "audit-log") return take(node, config.audit_log);
  if (key == "log-level") return take(node, config.log_level);
  if (key == "log-format") return take(node, config.log_format);
  if (key == "sandbox") return take(node, config.sandbox);
  if (key == "drain-time") return take_number(node, config.drain_time);
  if (key == "tls-certificate") return take(node, config.tls_certificate);
  if (key == "tls-key") return take(node, config.tls_key);
  if (key == "allowed-hosts") return take_list(node, config.allowed_hosts);
  known = false;
  return false;
}

bool set_metrics(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "token") return take(node, config.metrics_token);
  if (key == "queues") return take_limit(node, config.metrics_queues_max, kNumberMax);
  if (key == "history-queues") return take_limit(node, config.history_queues_max, kNumberMax);
  known = false;
  return false;
}

bool set_clock(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "jump") return take(node, config.clock_jump);
  if (key == "jump-wait") return take_limit(node, config.clock_jump_wait, kNumberMax);
  known = false;
  return false;
}

bool set_settled(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "messages") {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > 10'000'000) return false;
    config.settled.messages_max = static_cast<std::size_t>(*value);
    return true;
  }
  if (key == "days") {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > 365) return false;
    config.settled.retention = std::chrono::days(*value);
    return true;
  }
  known = false;
  return false;
}

bool set_audit(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = true;
  if (key == "file-bytes") return take_limit(node, config.audit_file_bytes_max, kBytesMax);
  if (key == "files") return take_limit(node, config.audit_files_max, kNumberMax);
  known = false;
  return false;
}

bool set_traces(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = key == "endpoint";
  if (!known || !take(node, config.traces_endpoint)) return false;
  std::string& endpoint = config.traces_endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint.starts_with("http://") || endpoint.starts_with("https://");
}

bool set_alarms(Config& config, std::string_view key, const toml::node& node, bool& known) {
  alarms::DeadLetterRules& rules = config.dead_letter_alarms;
  known = true;
  if (key == "notify") {
    return take_list(node, config.alarm_targets) &&
           std::ranges::all_of(config.alarm_targets, [](const std::string& target) {
             return alarms::Target::parse(target, true).kind != alarms::Target::Kind::unknown;
           });
  }
  if (key == "private-webhooks") return take(node, config.alarm_private_webhooks);
  if (key == "ca-file") return take(node, config.alarm_ca_file);
  if (key == "unreachable-targets") {
    std::string choice;
    if (!take(node, choice) || (choice != "refuse" && choice != "accept")) return false;
    config.alarm_unreachable_targets = choice == "accept";
    return true;
  }
  if (key == "dead-letters") return take(node, rules.on);
  if (key == "arrivals-per-minute") return take_limit(node, rules.arrivals_per_minute, kNumberMax);
  if (key == "expires-within") return take_limit(node, rules.expires_within, kNumberMax);
  known = false;
  return false;
}

bool set_console(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = key == "url";
  if (!known || !take(node, config.console_url)) return false;
  std::string& url = config.console_url;
  while (url.ends_with('/')) url.pop_back();
  const bool plain =
      std::ranges::none_of(url, [](char c) { return c <= ' ' || c == '<' || c == '>'; });
  return plain && (url.starts_with("http://") || url.starts_with("https://"));
}

bool set_functions(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = key == "key-scope";
  return known && take(node, config.function_key_scope) &&
         (config.function_key_scope == "role" || config.function_key_scope == "account");
}

bool set_outgoing(Config& config, std::string_view key, const toml::node& node, bool& known) {
  known = key == "allow";
  return known && take_list(node, config.outgoing_allow) &&
         http::OutgoingPolicy::parse(config.outgoing_allow).has_value();
}

Result<void> read_masking(Config& config, const std::string& path, const toml::table& table) {
  std::vector<std::string> json_paths;
  std::vector<std::string> attributes;
  for (const auto& [key, node] : table) {
    const bool paths = key.str() == "json-paths";
    const bool known = paths || key.str() == "attributes";
    if (known && take_list(node, paths ? json_paths : attributes)) continue;
    return unusable(
        path,
        node,
        fmt::format(
            "{} `masking.{}`", known ? "unusable value for" : "unknown setting", key.str()));
  }
  auto rules = dead_letter::MaskRules::make(json_paths, std::move(attributes));
  if (!rules) return unusable(path, table, "masking: " + rules.error().message);
  config.mask_rules = std::make_shared<const dead_letter::MaskRules>(*std::move(rules));
  return {};
}

// `set` applies one key and tells whether it knows it and could use its value.
template <class Set>
Result<void> set_all(const std::string& path, const toml::table& table, std::string_view prefix,
                     Set set) {
  for (const auto& [key, node] : table) {
    bool known = false;
    if (set(key.str(), node, known)) continue;
    return unusable(
        path,
        node,
        fmt::format(
            "{} `{}{}`", known ? "unusable value for" : "unknown setting", prefix, key.str()));
  }
  return {};
}

}  // namespace

Result<void> load_config(Config& config) {
  const std::string& path = config.file;
  if (path.empty()) return {};
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const auto& where = parsed.error().source().begin;
    return fail(ErrorCode::usage,
                fmt::format("{}:{}:{}: {}",
                            path,
                            where.line,
                            where.column,
                            std::string(parsed.error().description())));
  }
  toml::table table = parsed.table();
  if (const toml::node* const keys = table.get("key")) {
    config.keys = TRY(read_keys(*keys, path));
    config.secret_files = secret_files_of(*keys, path);
    table.erase("key");
  }
  if (const toml::node* const policies = table.get("dead-letters")) {
    config.policies = TRY(read_policies(*policies, path));
    table.erase("dead-letters");
  }
  if (const toml::table* const limits = table["limits"].as_table()) {
    CHECK(set_all(path, *limits, "limits.", [&](auto key, const toml::node& node, bool& known) {
      return set_limit(config, key, node, known);
    }));
    table.erase("limits");
  }
  if (const toml::table* const alarms = table["alarms"].as_table()) {
    CHECK(set_all(path, *alarms, "alarms.", [&](auto key, const toml::node& node, bool& known) {
      return set_alarms(config, key, node, known);
    }));
    table.erase("alarms");
  }
  if (const toml::table* const console = table["console"].as_table()) {
    CHECK(set_all(path, *console, "console.", [&](auto key, const toml::node& node, bool& known) {
      return set_console(config, key, node, known);
    }));
    table.erase("console");
  }
  if (const toml::table* const masking = table["masking"].as_table()) {
    CHECK(read_masking(config, path, *masking));
    table.erase("masking");
  }
  // What `redrive apply` makes may stand in the same file.
  for (const std::string_view section : stack::kStackSections) table.erase(section);
  if (const toml::table* const metrics = table["metrics"].as_table()) {
    CHECK(set_all(path, *metrics, "metrics.", [&](auto key, const toml::node& node, bool& known) {
      return set_metrics(config, key, node, known);
    }));
    table.erase("metrics");
  }
  if (const toml::table* const functions = table["functions"].as_table()) {
    CHECK(
        set_all(path, *functions, "functions.", [&](auto key, const toml::node& node, bool& known) {
          return set_functions(config, key, node, known);
        }));
    table.erase("functions");
  }
  if (const toml::table* const outgoing = table["outgoing"].as_table()) {
    CHECK(set_all(path, *outgoing, "outgoing.", [&](auto key, const toml::node& node, bool& known) {
      return set_outgoing(config, key, node, known);
    }));
    table.erase("outgoing");
  }
  if (const toml::table* const traces = table["traces"].as_table()) {
    CHECK(set_all(path, *traces, "traces.", [&](auto key, const toml::node& node, bool& known) {
      return set_traces(config, key, node, known);
    }));
    table.erase("traces");
  }
  if (const toml::table* const clock = table["clock"].as_table()) {
    CHECK(set_all(path, *clock, "clock.", [&](auto key, const toml::node& node, bool& known) {
      return set_clock(config, key, node, known);
    }));
    table.erase("clock");
  }
  if (const toml::table* const settled = table["settled"].as_table()) {
    CHECK(set_all(path, *settled, "settled.", [&](auto key, const toml::node& node, bool& known) {
      return set_settled(config, key, node, known);
    }));
    table.erase("settled");
  }
  if (const toml::table* const audit = table["audit"].as_table()) {
    CHECK(set_all(path, *audit, "audit.", [&](auto key, const toml::node& node, bool& known) {
      return set_audit(config, key, node, known);
    }));
    table.erase("audit");
  }
  return set_all(path, table, "", [&](auto key, const toml::node& node, bool& known) {
    return set_key(config, key, node, known);
  });
}

}  // namespace redrive::server
