#include "server/key_config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace redrive::server {
namespace {

bool is_account(std::string_view text) {
  return text.size() == 12 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_key_id(std::string_view text) {
  return text.size() >= 3 && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

// A file with a secret in it, usually with a line end after it.
Result<std::string> read_secret_file(const std::string& path, const std::string& config_file) {
  const auto full = std::filesystem::path(config_file).parent_path() / path;
  std::ifstream file(full);
  if (!file) return fail(ErrorCode::usage, fmt::format("cannot read {}", full.string()));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> read_secret_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value != nullptr && *value != '\0') return std::string(value);
  return fail(ErrorCode::usage, fmt::format("the environment variable {} is not set", name));
}

class KeyReader {
 public:
  KeyReader(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  Result<auth::AccessKey> read() {
    for (const auto& [name, node] : table_) CHECK(read_member(name.str(), node));
    if (!is_key_id(key_.id)) {
      return refuse("a key needs an id of 3 to 128 letters, digits, '-', '_' and '.'");
    }
    if (secrets_ != 1) {
      return refuse(
          fmt::format("the key {} needs one of secret, secret-file and secret-env", key_.id));
    }
    if (!has_role_) {
      return refuse(fmt::format(
          "the key {} needs a role: admin, operator, producer, consumer or reader", key_.id));
    }
    if (!key_.account.empty() && !is_account(key_.account)) {
      return refuse(fmt::format("the account of the key {} must have 12 digits", key_.id));
    }
    return key_;
  }

 private:
  std::unexpected<Error> refuse(std::string_view what) const {
    return unusable(file_, table_, what);
  }

  Result<void> read_member(std::string_view name, const toml::node& node) {
    bool good = false;
    if (name == "id") {
      good = take(node, key_.id);
    } else if (name.starts_with("secret")) {
      return read_secret(name, node);
    } else if (name == "role") {
      return read_role(node);
    } else if (name == "account") {
      good = take(node, key_.account);
    } else if (name == "name") {
      good = take(node, key_.name);
    } else if (name == "queues") {
      good = take_list(node, key_.queues);
    } else if (name == "requests-per-second") {
      good = take_number(node, key_.requests_per_second);
    } else {
      return unusable(file_, node, fmt::format("unknown setting `{}` of a key", name));
    }
    if (good) return {};
    return unusable(file_, node, fmt::format("unusable value for `{}`", name));
  }

  Result<void> read_role(const toml::node& node) {
    std::string text;
    const auto role = take(node, text) ? auth::parse_role(text) : std::nullopt;
    if (!role) {
      return unusable(
          file_, node, "a role is one of admin, operator, producer, consumer and reader");
    }
    key_.role = *role;
    has_role_ = true;
    return {};
  }

  Result<void> read_secret(std::string_view name, const toml::node& node) {
    std::string text;
    if (!take(node, text)) {
      return unusable(file_, node, fmt::format("unusable value for `{}`", name));
    }
    ++secrets_;
    if (name == "secret") {
      key_.secret = text;
    } else if (name == "secret-file") {
      key_.secret = TRY(read_secret_file(text, file_));
    } else if (name == "secret-env") {
      key_.secret = TRY(read_secret_variable(text));
    } else {
      return unusable(file_, node, fmt::format("unknown setting `{}` of a key", name));
    }
    return {};
  }

  const toml::table& table_;
  const std::string& file_;
  auth::AccessKey key_;
  int secrets_ = 0;
  bool has_role_ = false;
};

}  // namespace

Result<std::vector<auth::AccessKey>> read_keys(const toml::node& node, const std::string& file) {
  const toml::array* tables = node.as_array();
  if (tables == nullptr) return unusable(file, node, "keys are written as [[key]] tables");
  std::vector<auth::AccessKey> keys;
  for (const toml::node& entry : *tables) {
    const toml::table* table = entry.as_table();
    if (table == nullptr) return unusable(file, entry, "keys are written as [[key]] tables");
    keys.push_back(TRY(KeyReader(*table, file).read()));
  }
  return keys;
}

}  // namespace redrive::server
