#include "app/keys.h"

#include <spdlog/spdlog.h>

#include "app/key_config.h"

namespace redrive::app {

Result<auth::KeyRing> key_ring(const Config& config) {
  std::vector<auth::AccessKey> keys = config.keys;
  for (auth::AccessKey& key : keys) {
    if (key.account.empty()) key.account = config.account;
    if (key.requests_per_second == 0) key.requests_per_second = config.requests_per_second_max;
  }
  return auth::KeyRing::make(std::move(keys));
}

void warn_about_exposed_secrets(const Config& config) {
  for (const auto& [path, to] : exposed_files(config.secret_files)) {
    if (to != Exposure::others) continue;
    spdlog::warn(
        "{} contains secrets of access keys and every user of this machine can read or change it: "
        "run `chmod 600 {}` (or 640 with a separate group) and replace the keys",
        path,
        path);
  }
}

std::vector<std::pair<std::string, std::string>> exposed_key_files(const Config& config) {
  Config fresh{.file = config.file};
  const bool read = !config.file.empty() && load_config(fresh).has_value();
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [path, to] : exposed_files((read ? fresh : config).secret_files)) {
    found.emplace_back(path, to == Exposure::others ? "others" : "group");
  }
  return found;
}

Result<auth::KeyRing> read_fresh_keys(const Config& config) {
  Config fresh{.file = config.file};
  RETURN_IF_ERROR(load_config(fresh));
  fresh.account = config.account;  // May come from the command line, which overrides the file.
  if (fresh.keys.empty() != config.keys.empty()) {
    return fail(ErrorCode::usage,
                "adding the first key or removing the last one requires a restart");
  }
  warn_about_exposed_secrets(fresh);
  return key_ring(fresh);
}

}  // namespace redrive::app
