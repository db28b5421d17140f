#include "dead_letters/triage/deploys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/calendar.h"

namespace redrive::triage {
namespace {

using Verdict = DeployFinding::Verdict;

// During a replacement both versions may have messages in progress for a moment.
constexpr Duration kHandover{10'000};
// Above this probability, the absence of failures under the previous version may be chance.
constexpr double kDeployChanceMax = 0.05;

std::string span_text(Duration time) {
  const std::int64_t seconds = std::max<std::int64_t>(0, time.count() / 1000);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86'400);
}

// 12,301
std::string count_text(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

// The versions, in order, of the consumer with most of the group's failures.
std::vector<CodeRun> versions_of_worst(std::span<const CodeRun> runs) {
  std::map<std::string, std::uint64_t> failed;
  for (const CodeRun& run : runs) {
    if (!run.code.empty()) failed[run.role] += run.failed_so;
  }
  const auto worst =
      std::ranges::max_element(failed, {}, [](const auto& entry) { return entry.second; });
  if (worst == failed.end() || worst->second == 0) return {};
  std::vector<CodeRun> versions;
  for (const CodeRun& run : runs) {
    if (run.role == worst->first && !run.code.empty()) versions.push_back(run);
  }
  std::ranges::sort(versions, {}, &CodeRun::begin);
  return versions;
}

// The probability that none of `before` failed by chance, if its failure rate were that of `code`.
double chance_of_none(const CodeRun& code, const CodeRun& before) {
  const auto handled = static_cast<double>(std::max(code.handled, code.failed_so));
  const double rate = static_cast<double>(code.failed_so) / handled;
  return std::pow(1 - rate, static_cast<double>(before.handled));
}

std::string_view came(const CodeRun& run) {
  return run.deployed_wall ? "was deployed" : "was first seen";
}

std::string began_text(const DeployFinding& found) {
  return fmt::format(
      "began {} after {} {}", span_text(found.after), found.code.code, came(found.code));
}

std::string sentence_of(const DeployFinding& found, const std::vector<CodeRun>& versions) {
  const CodeRun& code = found.code;
  if (found.verdict == Verdict::any_version) {
    return fmt::format("fails under all {} known versions, from {} on: not caused by a deploy",
                       versions.size(),
                       code.code);
  }
  if (found.verdict == Verdict::first_known) {
    return fmt::format("{}; no earlier version is known", began_text(found));
  }
  std::string text = fmt::format("{}; 0 of {} failed like this under {}, the previous version",
                                 began_text(found),
                                 count_text(found.before->handled),
                                 found.before->code);
  if (found.overlap_until) {
    text += fmt::format("; both versions ran from {} to {}",
                        format_utc(code.begin()),
                        format_utc(*found.overlap_until));
  }
  if (!found.complete) return text + ", but older versions are no longer counted";
  if (found.verdict == Verdict::too_few) text += ", too few to decide";
  return text;
}

}  // namespace

std::optional<DeployFinding> which_deploy(std::span<const CodeRun> runs, bool complete) {
  const std::vector<CodeRun> versions = versions_of_worst(runs);
  const auto first =
      std::ranges::find_if(versions, [](const CodeRun& run) { return run.failed_so > 0; });
  if (first == versions.end()) return std::nullopt;
  DeployFinding found{.code = *first, .complete = complete};
  found.after = std::max(Duration::zero(), first->failed_first_wall - first->begin());
  const bool all_fail =
      std::ranges::all_of(versions, [](const CodeRun& run) { return run.failed_so > 0; });
  if (first != versions.begin()) {
    found.before = *(first - 1);
    const bool telling = complete && chance_of_none(*first, *found.before) <= kDeployChanceMax;
    found.verdict = telling ? Verdict::began_with : Verdict::too_few;
    const bool replaced = found.before->last_wall <= first->begin() + kHandover;
    if (!replaced && !first->function) found.overlap_until = found.before->last_wall;
  } else if (versions.size() > 1 && all_fail) {
    found.verdict = Verdict::any_version;
  }
  found.sentence = sentence_of(found, versions);
  return found;
}

}  // namespace redrive::triage
