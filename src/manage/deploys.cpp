#include "manage/deploys.h"

#include <algorithm>

#include "base/calendar.h"
#include "core/queue/consumer_name.h"
#include "dead_letters/triage/deploys.h"

namespace redrive::manage {
namespace {

using triage::CodeRun;
using Verdict = triage::DeployFinding::Verdict;

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::began_with:
      return "began-with";
    case Verdict::too_few:
      return "too-few";
    case Verdict::any_version:
      return "any-version";
    case Verdict::first_known:
      return "first-known";
  }
  return "first-known";
}

void copy_uses(const queue::State& state, const queue::CodeUses& uses,
               std::vector<GroupCodes::Use>& out, bool& complete) {
  for (const queue::CodeUse& use : uses.all()) out.push_back({state.code_key(use.code), use});
  complete &= !uses.forgot();
}

CodeRun& run_of(std::map<std::string, CodeRun>& runs, const GroupCodes::Use& counted,
                const queue::State::Deploys& deploys) {
  const auto [entry, is_new] = runs.try_emplace(counted.code_key);
  CodeRun& run = entry->second;
  if (!is_new) return run;
  const auto who = queue::parse_consumer_name(counted.code_key);
  run.role = who.role();
  run.code = who.code_version();
  run.function = who.kind == queue::ConsumerName::Kind::function;
  run.first_wall = counted.use.first_wall;
  const auto known = deploys.find(run.role);
  if (known == deploys.end()) return run;
  const auto deploy = std::ranges::find(known->second, run.code, &queue::Deploy::code);
  if (deploy != known->second.end()) run.deployed_wall = deploy->wall;
  return run;
}

std::vector<CodeRun> runs_of(const GroupCodes& codes) {
  std::map<std::string, CodeRun> runs;
  for (const GroupCodes::Use& counted : codes.handled) {
    CodeRun& run = run_of(runs, counted, codes.deploys);
    run.handled += counted.use.processed + counted.use.failed;
    run.first_wall = std::min(run.first_wall, counted.use.first_wall);
    run.last_wall = std::max(run.last_wall, counted.use.last_wall);
  }
  for (const GroupCodes::Use& counted : codes.failed) {
    CodeRun& run = run_of(runs, counted, codes.deploys);
    run.failed_so = counted.use.failed;
    run.failed_first_wall = counted.use.first_wall;
    run.first_wall = std::min(run.first_wall, counted.use.first_wall);
    run.last_wall = std::max(run.last_wall, counted.use.last_wall);
    run.handled = std::max(run.handled, run.failed_so);
  }
  std::vector<CodeRun> out;
  for (auto& [key, run] : runs) out.push_back(std::move(run));
  return out;
}

}  // namespace

GroupCodes codes_of(const queue::State& state, const queue::FailureGroup& group) {
  GroupCodes out;
  for (const queue::NameIndex name : group.arrivals.sources) {
    const queue::Queue* const source = state.find_by_arn(state.name(name));
    if (source != nullptr) copy_uses(state, source->codes, out.handled, out.complete);
  }
  copy_uses(state, group.codes, out.failed, out.complete);
  for (const GroupCodes::Use& counted : out.failed) {
    const std::string role = queue::parse_consumer_name(counted.code_key).role();
    const auto found = state.deploys().find(role);
    if (found != state.deploys().end()) out.deploys.insert(*found);
  }
  return out;
}

void tell_deploy(Call& call, const GroupCodes& codes, documents::FailureGroup& out) {
  for (const auto& [role, deploys] : codes.deploys) {
    for (const queue::Deploy& deploy : deploys) {
      out.deploys.push_back({.at = call.keep(format_utc(deploy.wall)),
                             .consumer = call.keep(role),
                             .code = call.keep(deploy.code)});
    }
  }
  std::ranges::sort(out.deploys, {}, &documents::DeployMark::at);
  const auto found = triage::which_deploy(runs_of(codes), codes.complete);
  if (!found) return;
  const auto time = [&](Timestamp wall) { return call.keep(format_utc(wall)); };
  documents::GroupDeploy& told = out.deploy.emplace();
  told = {.sentence = call.keep(found->sentence),
          .verdict = verdict_name(found->verdict),
          .consumer = call.keep(found->code.role),
          .code = call.keep(found->code.code),
          .since = time(found->code.begin()),
          .failed = static_cast<std::int64_t>(found->code.failed_so),
          .handled = static_cast<std::int64_t>(found->code.handled)};
  if (found->overlap_until) told.overlap_until = time(*found->overlap_until);
  if (!found->before) return;
  told.before = call.keep(found->before->code);
  told.handled_before = static_cast<std::int64_t>(found->before->handled);
}

void mark_deploys(documents::FailureGroup& out) {
  for (const documents::DeployMark& deploy : out.deploys) {
    out.marks.push_back(
        {.at = deploy.at, .kind = "deploy", .id = deploy.code, .text = deploy.consumer});
  }
  std::ranges::stable_sort(out.marks, {}, &documents::TimelineMark::at);
}

}  // namespace redrive::manage
