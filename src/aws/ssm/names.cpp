#include <fmt/format.h>

#include <algorithm>

#include "aws/ssm/call.h"
#include "base/pattern.h"
#include "base/text.h"

// How parameters are named.

namespace redrive::ssm {
namespace {

constexpr std::size_t kNameBytesMax = 1011;
constexpr std::ptrdiff_t kLevelsMax = 15;
constexpr std::string_view kArnPart = "parameter/";

std::unexpected<front::Refusal> invalid_name(std::string message) {
  return front::refuse(400, "ValidationException", std::move(message));
}

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '/';
}

// arn:aws:ssm:us-east-1:000000000000:parameter/app/db
Outcome<Address> parse_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  const bool fits = parts.size() >= 6 && parts.size() <= 7 && parts[2] == "ssm" &&
                    parts[5].starts_with(kArnPart) && parts[5].size() > kArnPart.size();
  if (!fits) return invalid_name(fmt::format("{} is not the ARN of a parameter.", arn));
  // A name with levels begins with a slash, which its ARN shares.
  const std::string_view rest = parts[5].substr(kArnPart.size());
  const bool levels = rest.find('/') != rest.npos;
  return Address{.account = std::string(parts[4]),
                 .region = std::string(parts[3]),
                 .name = fmt::format("{}{}", levels ? "/" : "", rest),
                 .selector = parts.size() == 7 ? fmt::format(":{}", parts[6]) : std::string()};
}

}  // namespace

front::Resource Address::resource() const {
  std::string_view covered = name;
  if (covered.starts_with('/')) covered.remove_prefix(1);
  return {.kind = front::ResourceKind::parameter,
          .account = account,
          .region = region,
          .name = name,
          .covered_as = covered};
}

std::string Address::entry() const {
  return fmt::format("{}/{}/{}", account, region, name);
}

Outcome<Address> parse_address(const front::Caller& caller, std::string_view text) {
  if (text.starts_with("arn:")) return parse_arn(text);
  const std::size_t colon = std::min(text.find(':'), text.size());
  return Address{.account = caller.account,
                 .region = caller.region,
                 .name = std::string(text.substr(0, colon)),
                 .selector = std::string(text.substr(colon))};
}

Outcome<void> check_new_name(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= kNameBytesMax &&
                     std::ranges::all_of(name, is_name_character) && !name.ends_with('/') &&
                     name.find("//") == name.npos;
  if (!plain) {
    return invalid_name(
        "A parameter name has up to 1011 characters of a-z, A-Z, 0-9 and _.-, in levels that are "
        "separated by single slashes.");
  }
  const bool levels = name.find('/') != name.npos;
  if (levels && !name.starts_with('/')) {
    return invalid_name("Parameter name must be a fully qualified name.");
  }
  if (std::ranges::count(name, '/') > kLevelsMax) {
    return front::refuse(400,
                         "HierarchyLevelLimitExceededException",
                         "A hierarchy can have a maximum of 15 levels.");
  }
  const std::string first = to_lower(name.substr(levels ? 1 : 0));
  if (first.starts_with("aws") || first.starts_with("ssm")) {
    return invalid_name(
        "Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).");
  }
  return {};
}

Outcome<std::string> parse_path(std::string_view path) {
  const bool plain = path.starts_with('/') && std::ranges::all_of(path, is_name_character) &&
                     path.find("//") == path.npos && path.size() <= kNameBytesMax;
  if (!plain) {
    return invalid_name(
        "Path must begin with a slash, and have levels as names of parameters have.");
  }
  return path.ends_with('/') ? std::string(path) : fmt::format("{}/", path);
}

}  // namespace redrive::ssm
