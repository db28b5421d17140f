// Reading redrive.toml.

#include <fmt/format.h>

#include <algorithm>

#include "net/http/outgoing_policy.h"
#include "observe/alarms/target.h"

#include "app/config.h"
#include "app/key_config.h"
#include "app/policy_config.h"
#include "app/toml.h"
#include "stack/sections.h"

namespace redrive::app {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;

// A limit of zero would make the server unusable.
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

// A server that runs as root gives each process its own user, from a range of this size.
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
        fmt::format("{} `masking.{}`", known ? "invalid value for" : "unknown setting", key.str()));
  }
  auto rules = triage::MaskRules::make(json_paths, std::move(attributes));
  if (!rules) return unusable(path, table, "masking: " + rules.error().message);
  config.mask_rules = std::make_shared<const triage::MaskRules>(*std::move(rules));
  return {};
}

// Applies one key of a table. `known` says whether there is such a key; false: it is unknown, or
// its value cannot be used.
using Set = bool (*)(Config& config, std::string_view key, const toml::node& node, bool& known);

struct Section {
  std::string_view name;
  Set set;
};
constexpr Section kSections[] = {{"limits", set_limit},
                                 {"alarms", set_alarms},
                                 {"console", set_console},
                                 {"metrics", set_metrics},
                                 {"functions", set_functions},
                                 {"outgoing", set_outgoing},
                                 {"traces", set_traces},
                                 {"clock", set_clock},
                                 {"settled", set_settled},
                                 {"audit", set_audit}};
// Otherwise `redrive apply` would refuse a file that has this section.
static_assert(std::ranges::all_of(kSections, stack::is_server_section, &Section::name));

Result<void> set_all(Config& config, const toml::table& table, std::string_view prefix, Set set) {
  for (const auto& [key, node] : table) {
    bool known = false;
    if (set(config, key.str(), node, known)) continue;
    return unusable(
        config.file,
        node,
        fmt::format(
            "{} `{}{}`", known ? "invalid value for" : "unknown setting", prefix, key.str()));
  }
  return {};
}

Result<toml::table> parse_file(const std::string& path) {
  toml::parse_result parsed = toml::parse_file(path);
  if (parsed) return std::move(parsed).table();
  const auto& where = parsed.error().source().begin;
  return fail(ErrorCode::usage,
              fmt::format("{}:{}:{}: {}",
                          path,
                          where.line,
                          where.column,
                          std::string(parsed.error().description())));
}

// Reads the tables with a form of their own and removes them.
Result<void> take_special_tables(Config& config, toml::table& table) {
  if (const toml::node* const keys = table.get("key")) {
    config.keys = TRY(read_keys(*keys, config.file));
    config.secret_files = secret_files_of(*keys, config.file);
    table.erase("key");
  }
  if (const toml::node* const policies = table.get("dead-letters")) {
    config.policies = TRY(read_policies(*policies, config.file));
    table.erase("dead-letters");
  }
  if (const toml::table* const masking = table["masking"].as_table()) {
    RETURN_IF_ERROR(read_masking(config, config.file, *masking));
    table.erase("masking");
  }
  return {};
}

}  // namespace

Result<void> load_config(Config& config) {
  if (config.file.empty()) return {};
  toml::table table = TRY(parse_file(config.file));
  RETURN_IF_ERROR(take_special_tables(config, table));
  // The file may also hold what `redrive apply` creates.
  for (const std::string_view section : stack::kStackSections) table.erase(section);
  for (const Section& section : kSections) {
    const toml::table* const found = table[section.name].as_table();
    if (found == nullptr) continue;
    RETURN_IF_ERROR(set_all(config, *found, fmt::format("{}.", section.name), section.set));
    table.erase(section.name);
  }
  return set_all(config, table, "", set_key);
}

}  // namespace redrive::app
