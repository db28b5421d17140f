#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"

// Whether a failure group began with a deploy, that is, with a version of its consumers' code.

namespace redrive::triage {

// One version of the code that processed the queues of a group's messages.
struct CodeRun {
  std::string role;  // What the versions belong to: a function, or the key of clients.
  std::string code;  // Empty: consumers that do not report their version.
  bool function = false;
  std::uint64_t handled = 0;    // Messages processed or dead-lettered.
  std::uint64_t failed_so = 0;  // Of these, messages of the group.
  Timestamp first_wall;         // Its first and last counted attempt.
  Timestamp last_wall;
  Timestamp failed_first_wall;             // The first attempt of the group's messages.
  std::optional<Timestamp> deployed_wall;  // Functions only; for clients it is unknown.

  // From when on it could run.
  Timestamp begin() const { return deployed_wall.value_or(first_wall); }
};

struct DeployFinding {
  enum class Verdict {
    began_with,   // No message failed this way under the previous version, although many ran.
    too_few,      // None did, but too few ran to be conclusive.
    any_version,  // It failed this way under every known version, so no deploy caused it.
    first_known,  // There is no previous version to compare with.
  };
  Verdict verdict = Verdict::first_known;
  CodeRun code;  // The first version under which it failed.
  std::optional<CodeRun> before;
  Duration after{};  // From the deploy to the first failure.
  // End of the time in which both versions ran (a rolling deploy). nullopt: one replaced the other.
  std::optional<Timestamp> overlap_until;
  bool complete = true;  // False: older versions are no longer counted.
  std::string sentence;
};

// What the counts say about a group. `complete`: no version has been dropped. nullopt if no
// consumer of the group reports its version. Pure.
std::optional<DeployFinding> which_deploy(std::span<const CodeRun> runs, bool complete);

}  // namespace redrive::triage
