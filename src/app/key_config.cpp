#include "app/key_config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/account.h"
#include "base/file_system.h"

namespace redrive::app {
namespace {

bool is_key_id(std::string_view text) {
  return text.size() >= 3 && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

// A path as the configuration file means it: relative to its own directory.
std::string path_beside(const std::string& config_file, const std::string& path) {
  return (std::filesystem::path(config_file).parent_path() / path).string();
}

// A file with a secret in it, usually with a line end after it.
Result<std::string> read_secret_file(const std::string& path, const std::string& config_file) {
  const std::string full = path_beside(config_file, path);
  auto text = read_file(full);
  if (!text) return fail(ErrorCode::usage, fmt::format("cannot read {}", full));
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return *std::move(text);
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
    for (const auto& [name, node] : table_) RETURN_IF_ERROR(read_member(name.str(), node));
    if (!is_key_id(key_.id)) {
      return refuse("the id of a key must have 3 to 128 letters, digits, '-', '_' and '.'");
    }
    if (secrets_ != 1) {
      return refuse(
          fmt::format("the key {} requires one of secret, secret-file and secret-env", key_.id));
    }
    if (!has_role_) {
      return refuse(fmt::format(
          "the key {} requires a role: admin, operator, producer, consumer or reader", key_.id));
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
    return unusable(file_, node, fmt::format("invalid value for `{}`", name));
  }

  Result<void> read_role(const toml::node& node) {
    std::string text;
    const auto role = take(node, text) ? auth::parse_role(text) : std::nullopt;
    if (!role) {
      return unusable(
          file_, node, "the role must be admin, operator, producer, consumer or reader");
    }
    key_.role = *role;
    has_role_ = true;
    return {};
  }

  Result<void> read_secret(std::string_view name, const toml::node& node) {
    std::string text;
    if (!take(node, text)) {
      return unusable(file_, node, fmt::format("invalid value for `{}`", name));
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
  if (tables == nullptr) return unusable(file, node, "keys must be [[key]] tables");
  std::vector<auth::AccessKey> keys;
  for (const toml::node& entry : *tables) {
    const toml::table* table = entry.as_table();
    if (table == nullptr) return unusable(file, entry, "keys must be [[key]] tables");
    keys.push_back(TRY(KeyReader(*table, file).read()));
  }
  return keys;
}

std::vector<std::string> secret_files_of(const toml::node& node, const std::string& file) {
  std::vector<std::string> paths;
  const toml::array* const tables = node.as_array();
  if (tables == nullptr) return paths;
  for (const toml::node& entry : *tables) {
    const toml::table* const table = entry.as_table();
    if (table == nullptr) continue;
    if (table->contains("secret")) paths.push_back(file);
    if (const auto named = (*table)["secret-file"].value<std::string>()) {
      paths.push_back(path_beside(file, *named));
    }
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<ExposedFile> exposed_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  constexpr auto kOthers = fs::perms::others_read | fs::perms::others_write;
  constexpr auto kGroup = fs::perms::group_read | fs::perms::group_write;
  std::vector<ExposedFile> exposed;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (error || !fs::is_regular_file(status)) continue;
    const auto allows = [&](fs::perms some) {
      return (status.permissions() & some) != fs::perms::none;
    };
    if (allows(kOthers)) {
      exposed.push_back({path, Exposure::others});
    } else if (allows(kGroup)) {
      exposed.push_back({path, Exposure::group});
    }
  }
  return exposed;
}

}  // namespace redrive::app
