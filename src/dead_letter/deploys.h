#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"

// Which deploy did it: whether a failure group began with a version of its consumers' code.

namespace redrive::dead_letter {

// One version of the code that worked on the queues a group's messages come from.
struct CodeRun {
  std::string role;  // Whose versions are compared: a function, or the key of clients.
  std::string code;  // Empty: consumers that do not say their version.
  bool function = false;
  std::uint64_t handled = 0;    // Messages processed or dead-lettered.
  std::uint64_t failed_so = 0;  // Of these, messages of the group.
  Timestamp first_wall;         // Its first and its last attempt that counts.
  Timestamp last_wall;
  Timestamp failed_first_wall;             // The first attempt of the group's messages.
  std::optional<Timestamp> deployed_wall;  // Of functions; clients are only seen.

  // Since when it could run.
  Timestamp begin() const { return deployed_wall.value_or(first_wall); }
};

struct DeployFinding {
  enum class Verdict {
    began_with,   // No message failed so under the version before, although many ran.
    too_few,      // None did, but so few ran that it says little.
    any_version,  // It failed so under every version that is known: no deploy did it.
    first_known,  // There is no version before to compare with.
  };
  Verdict verdict = Verdict::first_known;
  CodeRun code;  // The first version that it failed under.
  std::optional<CodeRun> before;
  Duration after{};  // From the deploy to the first failure.
  // While both versions ran: a rolling deploy. Empty: one took the place of the other.
  std::optional<Timestamp> overlap_until;
  bool complete = true;  // Otherwise older versions are no longer counted.
  std::string sentence;
};

// What the counts say of a group. `complete`: no version has been forgotten. Nothing when no
// consumer of the group says its version. Pure.
std::optional<DeployFinding> which_deploy(std::span<const CodeRun> runs, bool complete);

}  // namespace redrive::dead_letter
