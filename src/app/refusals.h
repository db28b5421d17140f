#pragma once

#include <string>
#include <string_view>

#include "app/audit_log.h"
#include "front/refusal_limit.h"

namespace redrive::app {

// Decides which refused requests get a line of the audit log. The rest is counted and written as
// one line for each caller. From any thread.
class Refusals {
 public:
  explicit Refusals(AuditLog& audit) : audit_(audit) {}

  // Whether this refusal gets a line of its own.
  bool admit(std::string_view caller, std::string_view peer);
  // Writes the counts of those that got none.
  void write_suppressed();

 private:
  AuditLog& audit_;
  front::RefusalLimit limit_;
};

}  // namespace redrive::app
