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

#include "auth/rate_limit.h"
#include "base/result.h"

namespace redrive::auth {

// What a request wants to do, as far as roles tell requests apart.
enum class Right : std::uint8_t {
  find,        // Learn that a queue exists, its URL and attributes.
  look,        // Read anything without changing it.
  send,        // Put messages in.
  consume,     // Receive, extend, delete; report failures.
  operate,     // Run a queue: settings, purge, redrive, edit.
  administer,  // Create and delete queues, share them with others.
};

// Each role is a set of rights. An admin has all of them; `scoped` has none, and is for keys of the
// server's own whose rights are statements alone. It cannot be named in a configuration.
enum class Role : std::uint8_t { admin, operator_, producer, consumer, reader, scoped };

std::optional<Role> parse_role(std::string_view name);
std::string_view role_name(Role role);
bool has_right(Role role, Right right);

// A statement of a policy that belongs to a key. Patterns have the wildcards `*` and `?`.
struct Statement {
  enum class Effect : std::uint8_t { allow, deny };

  Effect effect = Effect::allow;
  std::vector<std::string> actions;    // `sqs:SendMessage`, `s3:*`; letter case is ignored.
  std::vector<std::string> resources;  // Of ARNs.
  bool except_actions = false;         // NotAction: all actions but these.
  bool except_resources = false;       // NotResource: all resources but these.

  bool matches(std::string_view action, std::string_view arn) const;
};

enum class StatementVerdict : std::uint8_t { silent, allow, deny };

// One access key as the operator declared it.
struct AccessKey {
  std::string id;
  std::string secret;
  std::string account;
  std::string name;  // Who holds it; the id when nobody said.
  Role role = Role::reader;
  std::vector<std::string> queues;        // Patterns of queue names; none means every queue.
  std::uint32_t requests_per_second = 0;  // 0: no limit.
  // Rights in addition to those of the role: an allow grants what the role or the patterns do not,
  // a deny takes away what they grant.
  std::vector<Statement> statements = {};
  // SenderId of what it sends, where that is not its name: of a function `ROLE:NAME`.
  std::string sender = {};

  // Whether the key is limited to some names.
  bool restricted() const { return !queues.empty() || role == Role::scoped; }
  // What the statements say; a matching deny wins.
  StatementVerdict statements_on(std::string_view action, std::string_view arn) const;
  bool covers(std::string_view queue_name) const;
  std::string arn() const;  // arn:aws:iam::account:user/name
};

// The keys that a server knows. Does not change once made, so threads share one freely.
class KeyRing {
 public:
  // Refuses two keys with one id, and keys without an id or a secret.
  static Result<KeyRing> make(std::vector<AccessKey> keys);

  bool empty() const { return keys_.empty(); }
  const AccessKey* find(std::string_view id) const;
  // Whether the holder of this key may ask once more at this moment.
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
    std::unique_ptr<RateLimit> limit;  // None: without limit.
  };
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> keys_;
};

// A new id (AKIA and 16 characters) or secret (40 characters) from the system's random source.
std::string make_key_id();
std::string make_key_secret();

}  // namespace redrive::auth
