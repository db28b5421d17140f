#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/session.h"

namespace redrive::cli {

// Before something that cannot be undone: asks whoever sits at the terminal, and without anybody to
// ask wants to have been told so by --yes.
inline Answer<void> ask_permission(Session& session, bool yes, const std::string& question) {
  if (yes) return {};
  if (!session.terminal().in_is_terminal) {
    return usage_failure("nobody is here to confirm this; give --yes");
  }
  if (confirm(session.terminal(), question)) return {};
  session.terminal().err << "nothing was done\n";
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

}  // namespace redrive::cli
