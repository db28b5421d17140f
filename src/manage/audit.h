#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::manage {

// Which lines of the audit log are wanted. Texts match anywhere in the member, whatever the case;
// empty ones match everything.
struct AuditQuery {
  std::string after;  // The `next` of a page.
  std::string who;
  std::string action;
  std::string resource;
  std::size_t limit = 100;
};

// A page of the audit log: JSON objects, newest first.
struct AuditLines {
  std::vector<std::string> lines;
  std::string next;  // Empty: these are the last.
};

// Whether a line of the audit log is wanted. False for a line that is no JSON object.
bool matches(const AuditQuery& query, std::string_view line);

}  // namespace redrive::manage
