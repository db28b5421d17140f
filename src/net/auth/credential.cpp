#include "net/auth/credential.h"

#include <cstring>

#include "base/text.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kTerminator = "aws4_request";

// Removes the part after the last separator from `rest`; '/' may be escaped as %2F or %2f.
std::optional<std::string_view> pop_part(std::string_view& rest, bool escapes) {
  if (rest.empty()) return std::nullopt;
  if (!escapes) {
    const auto* const slash = static_cast<const char*>(::memrchr(rest.data(), '/', rest.size()));
    if (slash == nullptr) return std::nullopt;
    const std::string_view part(slash + 1, rest.data() + rest.size());
    rest = {rest.data(), slash};
    return part;
  }
  for (std::size_t at = rest.size(); at-- > 0;) {
    const bool escaped = rest[at] == '%' && iequals(rest.substr(at, 3), "%2F");
    if (rest[at] != '/' && !escaped) continue;
    const std::string_view part = rest.substr(at + (escaped ? 3 : 1));
    rest = rest.substr(0, at);
    return part;
  }
  return std::nullopt;
}

// The text between `name` and the next `end`; empty if `name` does not occur.
std::string_view between(std::string_view text, std::string_view name, char end) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find(end));
}

}  // namespace

std::optional<Scope> parse_scope(std::string_view credential) {
  const bool escapes = credential.find('%') != std::string_view::npos;
  const auto terminator = pop_part(credential, escapes);
  const auto service = pop_part(credential, escapes);
  const auto region = pop_part(credential, escapes);
  const auto date = pop_part(credential, escapes);
  if (!date || terminator != kTerminator) return std::nullopt;
  // The key id may be empty: it matches no key, but the claimed region and service still count.
  if (date->empty() || region->empty() || service->empty()) return std::nullopt;
  return Scope{.access_key = credential, .date = *date, .region = *region, .service = *service};
}

std::optional<Scope> scope_of(std::string_view authorization, std::string_view query) {
  const std::string_view text = between(authorization, "Credential=", ',');
  if (const auto credential = text.substr(0, text.find(' ')); !credential.empty()) {
    return parse_scope(credential);
  }
  if (query.empty()) return std::nullopt;
  return parse_scope(between(query, "X-Amz-Credential=", '&'));
}

}  // namespace redrive::auth
