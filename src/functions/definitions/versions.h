#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "functions/definitions/definition.h"

// Published versions of a function, and its aliases. They are stored in the function's own document
// and are deleted with it.

namespace redrive::functions {

inline constexpr std::string_view kLatest = "$LATEST";

bool is_version_number(std::string_view text);

// Resolves a qualifier: empty or $LATEST is the function itself, a number a published version,
// anything else an alias. nullopt if it does not exist.
std::optional<Function> find_version(const Function& latest, std::string_view qualifier);
std::optional<Alias> find_alias(const Function& latest, const std::string& name);

// Code can also be named by its content: `@` and the first hexadecimal digits of its SHA-256. That
// means the current function with the code, runtime and handler of that time.
bool is_code_qualifier(std::string_view text);

// Records the function's current code as the newest. Returns true if it differs from the previous
// one.
bool note_code(Function& latest, Timestamp wall);
// The digests of all code that a function may be run with: current, earlier and published.
std::set<std::string> code_of(const Function& latest);

// Published versions, oldest first; aliases sorted by name.
std::vector<Function> versions_of(const Function& latest);
std::vector<Alias> aliases_of(const Function& latest);

// Publishes `latest` unless nothing has changed since the last version; returns the last published
// version either way.
struct Publication {
  std::string description;  // Empty: the function's description.
  std::string revision;     // Of the new version.
  Timestamp wall;
};
Function publish(Function& latest, const Publication& how);

}  // namespace redrive::functions
