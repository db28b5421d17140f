#include "functions/definitions/versions.h"

#include <algorithm>

#include "base/text.h"
#include "functions/definitions/codec.h"

namespace redrive::functions {
namespace {

std::uint32_t number_of(const Function& version) {
  return parse_int<std::uint32_t>(version.version).value_or(0);
}

// What must be equal for two versions to be the same: everything except names and times.
std::string essence(Function function) {
  function.version.clear();
  function.versions.clear();
  function.aliases.clear();
  function.version_last = 0;
  function.code_history.clear();
  function.description.clear();
  function.tags.clear();
  function.permissions.clear();
  function.reserved_concurrency.reset();
  function.revision.clear();
  function.modified_wall = {};
  return encode(function);
}

constexpr std::size_t kCodeDigitsMin = 4;

std::string digits_of(const CodeRecord& code) {
  return to_hex(base64_decode(code.sha256).value_or(std::string()));
}

// nullopt if no stored code, or more than one, starts with these digits.
std::optional<Function> find_code(const Function& latest, std::string_view digits) {
  const CodeRecord* found = nullptr;
  for (const CodeRecord& code : latest.code_history) {
    if (!digits_of(code).starts_with(digits)) continue;
    if (found != nullptr) return std::nullopt;
    found = &code;
  }
  if (found == nullptr) return std::nullopt;
  Function version = latest;
  version.code_sha256 = found->sha256;
  version.code_size = found->size;
  version.runtime = found->runtime;
  version.handler = found->handler;
  version.directory.clear();
  version.version = "@" + digits_of(*found).substr(0, 8);
  version.versions.clear();
  version.aliases.clear();
  version.code_history.clear();
  return version;
}

template <class T, class Decode>
std::vector<T> decoded(const std::map<std::string, std::string>& documents, Decode decode) {
  std::vector<T> all;
  for (const auto& [name, document] : documents)
    if (auto value = decode(document)) all.push_back(*std::move(value));
  return all;
}

}  // namespace

bool is_version_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<Alias> find_alias(const Function& latest, const std::string& name) {
  const auto found = latest.aliases.find(name);
  if (found == latest.aliases.end()) return std::nullopt;
  const auto alias = decode_alias(found->second);
  return alias ? std::optional(*alias) : std::nullopt;
}

bool is_code_qualifier(std::string_view text) {
  if (!text.starts_with('@') || text.size() < 1 + kCodeDigitsMin || text.size() > 65) return false;
  return text.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

bool note_code(Function& latest, Timestamp wall) {
  if (latest.code_sha256.empty()) return false;
  auto& history = latest.code_history;
  const bool same = !history.empty() && history.back().sha256 == latest.code_sha256;
  const Timestamp deployed = same ? history.back().deployed_wall : wall;
  std::erase_if(history, [&](const CodeRecord& code) { return code.sha256 == latest.code_sha256; });
  history.push_back(
      {latest.code_sha256, latest.code_size, latest.runtime, latest.handler, deployed});
  if (history.size() > kCodeKept) history.erase(history.begin(), history.end() - kCodeKept);
  return !same;
}

std::set<std::string> code_of(const Function& latest) {
  std::set<std::string> all;
  for (const CodeRecord& code : latest.code_history) all.insert(code.sha256);
  for (const Function& version : versions_of(latest)) all.insert(version.code_sha256);
  all.insert(latest.code_sha256);
  all.erase("");
  return all;
}

std::optional<Function> find_version(const Function& latest, std::string_view qualifier) {
  if (qualifier.empty() || qualifier == kLatest) return latest;
  if (is_code_qualifier(qualifier)) return find_code(latest, qualifier.substr(1));
  if (!is_version_number(qualifier)) {
    const auto alias = find_alias(latest, std::string(qualifier));
    return alias ? find_version(latest, alias->version) : std::nullopt;
  }
  const auto found = latest.versions.find(std::string(qualifier));
  if (found == latest.versions.end()) return std::nullopt;
  auto version = decode_function(found->second);
  if (!version) return std::nullopt;
  // Belongs to the function, not to the version.
  version->reserved_concurrency = latest.reserved_concurrency;
  return *std::move(version);
}

std::vector<Function> versions_of(const Function& latest) {
  auto all = decoded<Function>(latest.versions, decode_function);
  std::ranges::sort(all, {}, number_of);
  return all;
}

std::vector<Alias> aliases_of(const Function& latest) {
  return decoded<Alias>(latest.aliases, decode_alias);
}

Function publish(Function& latest, const Publication& how) {
  const auto last = find_version(latest, std::to_string(latest.version_last));
  if (latest.version_last > 0 && last && essence(*last) == essence(latest)) return *last;
  Function version = latest;
  version.versions.clear();
  version.aliases.clear();
  version.tags.clear();
  version.permissions.clear();
  version.version_last = 0;
  version.code_history.clear();
  version.version = std::to_string(++latest.version_last);
  if (!how.description.empty()) version.description = how.description;
  version.revision = how.revision;
  version.modified_wall = how.wall;
  latest.versions[version.version] = encode(version);
  return version;
}

}  // namespace redrive::functions
