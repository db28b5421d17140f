#include "auth/credential.h"

#include "base/text.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kTerminator = "aws4_request";

// Cuts the part after the last separator off `rest`; '/' may also stand as %2F, in either case.
std::optional<std::string_view> pop_part(std::string_view& rest) {
  for (std::size_t at = rest.size(); at-- > 0;) {
    const bool escaped = rest[at] == '%' && iequals(rest.substr(at, 3), "%2F");
    if (rest[at] != '/' && !escaped) continue;
    const std::string_view part = rest.substr(at + (escaped ? 3 : 1));
    rest = rest.substr(0, at);
    return part;
  }
  return std::nullopt;
}

// The text between `name` and the next of `ends`; empty when `name` is not there.
std::string_view between(std::string_view text, std::string_view name, std::string_view ends) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(ends));
}

}  // namespace

std::optional<Scope> parse_scope(std::string_view credential) {
  const auto terminator = pop_part(credential);
  const auto service = pop_part(credential);
  const auto region = pop_part(credential);
  const auto date = pop_part(credential);
  if (!date || terminator != kTerminator) return std::nullopt;
  if (credential.empty() || date->empty() || region->empty() || service->empty()) {
    return std::nullopt;
  }
  return Scope{.access_key = credential, .date = *date, .region = *region, .service = *service};
}

std::optional<Scope> scope_of(std::string_view authorization, std::string_view query) {
  if (const auto text = between(authorization, "Credential=", ", "); !text.empty()) {
    return parse_scope(text);
  }
  return parse_scope(between(query, "X-Amz-Credential=", "&"));
}

}  // namespace redrive::auth
