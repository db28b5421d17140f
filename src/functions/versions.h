#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "functions/definition.h"

// What was published of a function, and the names for it. All of it lies in the function's own
// document: it goes with the function.

namespace redrive::functions {

inline constexpr std::string_view kLatest = "$LATEST";

bool is_version_number(std::string_view text);

// What a qualifier means: nothing or $LATEST the function itself, a number what was published
// under it, anything else what the alias stands for. None: there is no such thing.
std::optional<Function> find_version(const Function& latest, std::string_view qualifier);
std::optional<Alias> find_alias(const Function& latest, const std::string& name);

// Code is also called by what it is: `@` and the first hexadecimal digits of its SHA-256. That
// means the function as it is, with the code, the runtime and the handler that it had.
bool is_code_qualifier(std::string_view text);

// Remembers the code that a function has now as the newest. True when it is another than before.
bool note_code(Function& latest, Timestamp wall);
// The digests of all code that a function may be run with: what it has, had and published.
std::set<std::string> code_of(const Function& latest);

// Published versions, oldest first; aliases in the order of their names.
std::vector<Function> versions_of(const Function& latest);
std::vector<Alias> aliases_of(const Function& latest);

// Publishes `latest` as it is, unless nothing has changed since the last time; what was published
// last either way.
struct Publication {
  std::string description;  // Empty: that of the function.
  std::string revision;     // Of the new version.
  Timestamp wall;
};
Function publish(Function& latest, const Publication& how);

}  // namespace redrive::functions
