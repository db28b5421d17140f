#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/client/session.h"

namespace redrive::cli {

// Asks for confirmation before something irreversible. Without a terminal, --yes is required.
inline Answer<void> ask_permission(Session& session, bool yes, const std::string& question) {
  if (yes) return {};
  if (!session.terminal().in_is_terminal) {
    return usage_failure("cannot ask for confirmation (no terminal); pass --yes");
  }
  if (confirm(session.terminal(), question)) return {};
  session.terminal().err << "cancelled\n";
  return std::unexpected(Failure{Failure::Kind::reported, "", ""});
}

}  // namespace redrive::cli
