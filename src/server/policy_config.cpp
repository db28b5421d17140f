#include "server/policy_config.h"

#include <fmt/format.h>

namespace redrive::server {
namespace {

using queue::DeadLetterPolicy;

bool take_then(const toml::node& node, DeadLetterPolicy& policy) {
  std::string text;
  if (!take(node, text)) return false;
  if (text == "park") policy.then = DeadLetterPolicy::Then::park;
  if (text == "discard") policy.then = DeadLetterPolicy::Then::discard;
  if (text == "archive") policy.then = DeadLetterPolicy::Then::archive;
  return text == "park" || text == "discard" || text == "archive";
}

bool take_seconds(const toml::node& node, std::chrono::seconds& place) {
  std::uint32_t seconds = 0;
  const bool good = take_number(node, seconds) && seconds <= 1'209'600;
  if (good) place = std::chrono::seconds(seconds);
  return good;
}

Result<engine::PolicyRule> read_policy(const toml::table& table, const std::string& file) {
  engine::PolicyRule rule;
  DeadLetterPolicy& policy = rule.policy;
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    bool good = false;
    if (name == "queues") {
      good = take_list(node, rule.queues);
    } else if (name == "max-redrives") {
      good = take_number(node, policy.redrives_max) && policy.redrives_max <= 1000;
    } else if (name == "redrive-after") {
      good = take_seconds(node, policy.redrive_after);
    } else if (name == "backoff-rate") {
      good = take_number(node, policy.backoff_rate) && policy.backoff_rate >= 1 &&
             policy.backoff_rate <= 100;
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
    if (!good) return unusable(file, node, fmt::format("unusable value for `{}`", name));
  }
  if (rule.queues.empty()) return unusable(file, table, "dead-letters need `queues`");
  if (policy.redrive_after.count() > 0 && policy.redrives_max == 0)
    return unusable(file, table, "dead-letters with `redrive-after` need `max-redrives`");
  const bool archives = policy.archive_expiring || policy.then == DeadLetterPolicy::Then::archive;
  if (archives && policy.archive.empty())
    return unusable(file, table, "dead-letters that are archived need `archive`");
  return rule;
}

}  // namespace

Result<std::vector<engine::PolicyRule>> read_policies(const toml::node& node,
                                                      const std::string& file) {
  const toml::array* const tables = node.as_array();
  if (tables == nullptr) return unusable(file, node, "write [[dead-letters]]");
  std::vector<engine::PolicyRule> rules;
  for (const toml::node& one : *tables) {
    const toml::table* const table = one.as_table();
    if (table == nullptr) return unusable(file, one, "write [[dead-letters]]");
    rules.push_back(TRY(read_policy(*table, file)));
  }
  return rules;
}

}  // namespace redrive::server
