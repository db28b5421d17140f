#include "app/policy_config.h"

#include <fmt/format.h>

#include "dead_letters/policy/policy_check.h"

namespace redrive::app {
namespace {

using queue::DeadLetterPolicy;

bool take_then(const toml::node& node, DeadLetterPolicy& policy) {
  std::string text;
  if (!take(node, text)) return false;
  const auto then = dead_letters::then_called(text);
  if (then) policy.then = *then;
  return then.has_value();
}

bool take_seconds(const toml::node& node, std::chrono::seconds& place) {
  std::uint32_t seconds = 0;
  const bool good = take_number(node, seconds);
  if (good) place = std::chrono::seconds(seconds);
  return good;
}

Result<dead_letters::PolicyRule> read_policy(const toml::table& table, const std::string& file) {
  dead_letters::PolicyRule rule;
  DeadLetterPolicy& policy = rule.policy;
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    bool good = false;
    if (name == "queues") {
      good = take_list(node, rule.queues);
    } else if (name == "max-redrives") {
      good = take_number(node, policy.redrives_max);
    } else if (name == "redrive-after") {
      good = take_seconds(node, policy.redrive_after);
    } else if (name == "backoff-rate") {
      good = take_number(node, policy.backoff_rate);
    } else if (name == "max-redrive-after") {
      good = take_seconds(node, policy.redrive_after_max);
    } else if (name == "then") {
      good = take_then(node, policy);
    } else if (name == "archive-expiring") {
      good = take(node, policy.archive_expiring);
    } else if (name == "archive") {
      good = take(node, policy.archive);
    } else {
      return unusable(file, node, fmt::format("unknown setting `{}` of dead-letters", name));
    }
    if (!good) return unusable(file, node, fmt::format("invalid value for `{}`", name));
  }
  if (rule.queues.empty()) return unusable(file, table, "[[dead-letters]] requires `queues`");
  if (const auto good = dead_letters::check_policy(policy); !good) {
    return unusable(file, table, fmt::format("dead-letters: {}", good.error().message));
  }
  return rule;
}

}  // namespace

Result<std::vector<dead_letters::PolicyRule>> read_policies(const toml::node& node,
                                                            const std::string& file) {
  const toml::array* const tables = node.as_array();
  if (tables == nullptr) return unusable(file, node, "write [[dead-letters]]");
  std::vector<dead_letters::PolicyRule> rules;
  for (const toml::node& one : *tables) {
    const toml::table* const table = one.as_table();
    if (table == nullptr) return unusable(file, one, "write [[dead-letters]]");
    rules.push_back(TRY(read_policy(*table, file)));
  }
  return rules;
}

}  // namespace redrive::app
