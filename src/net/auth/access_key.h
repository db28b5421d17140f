#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/auth/rate_limit.h"

namespace redrive::auth {

// The kinds of operation that roles distinguish.
enum class Right : std::uint8_t {
  find,        // Learn that a queue exists, its URL and attributes.
  look,        // Read anything without changing it.
  send,        // Send messages.
  consume,     // Receive, extend, delete; report failures.
  operate,     // Run a queue: settings, purge, redrive, edit.
  administer,  // Create and delete queues, share them with others.
};

// Each role is a set of rights. An admin has all of them; `scoped` has none and is for the server's
// own keys, whose rights come only from statements. It cannot be used in a configuration.
enum class Role : std::uint8_t { admin, operator_, producer, consumer, reader, scoped };

std::optional<Role> parse_role(std::string_view name);
std::string_view role_name(Role role);
bool has_right(Role role, Right right);

// A policy statement attached to a key. Patterns may contain the wildcards `*` and `?`.
struct Statement {
  enum class Effect : std::uint8_t { allow, deny };

  Effect effect = Effect::allow;
  std::vector<std::string> actions;    // `sqs:SendMessage`, `s3:*`; case-insensitive.
  std::vector<std::string> resources;  // ARN patterns.
  bool except_actions = false;         // NotAction: all actions except these.
  bool except_resources = false;       // NotResource: all resources except these.

  bool matches(std::string_view action, std::string_view arn) const;
};

enum class StatementVerdict : std::uint8_t { silent, allow, deny };

// One access key as configured by the operator.
struct AccessKey {
  std::string id;
  std::string secret;
  std::string account;
  std::string name;  // The holder; the id if not configured.
  Role role = Role::reader;
  std::vector<std::string> queues;        // Patterns for queue names; empty: every queue.
  std::uint32_t requests_per_second = 0;  // 0: no limit.
  // Rights in addition to those of the role: an allow grants what the role or the patterns do not,
  // a deny revokes what they grant.
  std::vector<Statement> statements = {};
  // SenderId of the messages it sends, if it is not the name: for a function `ROLE:NAME`.
  std::string sender = {};

  // Whether the key is limited to certain names.
  bool restricted() const { return !queues.empty() || role == Role::scoped; }
  // The verdict of the statements; a matching deny wins.
  StatementVerdict statements_on(std::string_view action, std::string_view arn) const;
  bool covers(std::string_view queue_name) const;
  std::string arn() const;  // arn:aws:iam::account:user/name
};

// The keys known to a server. Immutable, so threads can share one instance.
class KeyRing {
 public:
  // Refuses duplicate ids, and keys without an id or a secret.
  static Result<KeyRing> make(std::vector<AccessKey> keys);

  bool empty() const { return keys_.empty(); }
  const AccessKey* find(std::string_view id) const;
  // Whether the key's rate limit admits another request now.
  bool admit(const AccessKey& key, std::chrono::nanoseconds now) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct Entry {
    AccessKey key;
    std::unique_ptr<RateLimit> limit;  // Null: no limit.
  };
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> keys_;
};

// A new id (AKIA and 16 characters) or secret (40 characters) from the system's random source.
std::string make_key_id();
std::string make_key_secret();
// 256 random bits as 43 characters that need no quoting in cookies and URLs.
std::string make_session_token();

}  // namespace redrive::auth
