#include "net/auth/access_key.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/pattern.h"

namespace redrive::auth {
namespace {

using Rights = std::uint8_t;

constexpr Rights bit(Right right) {
  return static_cast<Rights>(1u << static_cast<unsigned>(right));
}

struct RoleRow {
  Role role;
  std::string_view name;
  Rights rights;
};

constexpr Rights kReads = bit(Right::find) | bit(Right::look);
constexpr Rights kOperates = kReads | bit(Right::send) | bit(Right::consume) | bit(Right::operate);

constexpr std::array kRoles = {
    RoleRow{Role::admin, "admin", kOperates | bit(Right::administer)},
    RoleRow{Role::operator_, "operator", kOperates},
    RoleRow{Role::producer, "producer", bit(Right::find) | bit(Right::send)},
    RoleRow{Role::consumer, "consumer", bit(Right::find) | bit(Right::consume)},
    RoleRow{Role::reader, "reader", kReads},
    RoleRow{Role::scoped, "scoped", 0},
};

const RoleRow& row_of(Role role) {
  return *std::ranges::find(kRoles, role, &RoleRow::role);
}

// The alphabet's size must divide 256, so that each character is equally likely.
std::string random_text(std::size_t size, std::string_view alphabet) {
  assert(256 % alphabet.size() == 0);
  std::string text(size, '\0');
  const int done =
      RAND_bytes(reinterpret_cast<unsigned char*>(text.data()), static_cast<int>(size));
  assert(done == 1);
  for (char& c : text) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return text;
}

}  // namespace

std::optional<Role> parse_role(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name, &RoleRow::name);
  if (found == kRoles.end() || found->role == Role::scoped) return std::nullopt;
  return found->role;
}

std::string_view role_name(Role role) {
  return row_of(role).name;
}

bool has_right(Role role, Right right) {
  return (row_of(role).rights & bit(right)) != 0;
}

bool Statement::matches(std::string_view action, std::string_view arn) const {
  const auto named = [&](const std::string& pattern) {
    return wildcard_match(to_lower(pattern), to_lower(action));
  };
  const auto meant = [&](const std::string& pattern) { return wildcard_match(pattern, arn); };
  return std::ranges::any_of(actions, named) != except_actions &&
         std::ranges::any_of(resources, meant) != except_resources;
}

StatementVerdict AccessKey::statements_on(std::string_view action, std::string_view arn) const {
  StatementVerdict verdict = StatementVerdict::silent;
  for (const Statement& statement : statements) {
    if (!statement.matches(action, arn)) continue;
    if (statement.effect == Statement::Effect::deny) return StatementVerdict::deny;
    verdict = StatementVerdict::allow;
  }
  return verdict;
}

bool AccessKey::covers(std::string_view queue_name) const {
  return queues.empty() || std::ranges::any_of(queues, [&](const std::string& pattern) {
           return wildcard_match(pattern, queue_name);
         });
}

std::string AccessKey::arn() const {
  return fmt::format("arn:aws:iam::{}:user/{}", account, name);
}

Result<KeyRing> KeyRing::make(std::vector<AccessKey> keys) {
  KeyRing ring;
  for (AccessKey& key : keys) {
    if (key.id.empty()) return fail(ErrorCode::usage, "an access key has no id");
    if (key.secret.empty()) {
      return fail(ErrorCode::usage, fmt::format("the access key {} has no secret", key.id));
    }
    if (key.name.empty()) key.name = key.id;
    Entry entry{.key = std::move(key), .limit = nullptr};
    if (entry.key.requests_per_second > 0) {
      entry.limit = std::make_unique<RateLimit>(entry.key.requests_per_second);
    }
    const std::string id = entry.key.id;
    if (!ring.keys_.try_emplace(id, std::move(entry)).second) {
      return fail(ErrorCode::usage, fmt::format("the access key {} is declared twice", id));
    }
  }
  return ring;
}

const AccessKey* KeyRing::find(std::string_view id) const {
  const auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : &found->second.key;
}

bool KeyRing::admit(const AccessKey& key, std::chrono::nanoseconds now) const {
  const Entry& entry = keys_.find(key.id)->second;
  return entry.limit == nullptr || entry.limit->admit(now);
}

std::string make_key_id() {
  return "AKIA" + random_text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
}

std::string make_session_token() {
  return random_text(43, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

std::string make_key_secret() {
  return random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}

}  // namespace redrive::auth
