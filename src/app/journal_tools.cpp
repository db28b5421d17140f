#include "app/journal_tools.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/journal/journal.h"
#include "core/journal/posix_files.h"
#include "core/store/change_codec.h"
#include "core/store/check_messages.h"
#include "dead_letters/damage/drop_offline.h"

namespace redrive::app {
namespace {

using Tool = std::function<Result<journal::CheckReport>(journal::Files&)>;

Result<journal::CheckReport> check(journal::Files& files) {
  journal::CheckReport report = TRY(journal::check_journal(files, store::explain_damage));
  const auto messages = store::check_messages(files);
  if (!messages) {
    report.lines.push_back(
        fmt::format("messages were not checked, because the journal cannot be replayed: {}",
                    messages.error().message));
    report.healthy = false;
    return report;
  }
  report.lines.insert(report.lines.end(), messages->lines.begin(), messages->lines.end());
  report.healthy = report.healthy && messages->healthy;
  return report;
}

// Without their segments the messages in them are damaged, like any others whose bytes are gone.
Result<void> replace_missing_segments(journal::Files& files, journal::CheckReport& report) {
  const auto missing = store::missing_segments(files);
  if (!missing || missing->empty()) return {};  // A failed replay has already been reported.
  for (const std::uint32_t segment : *missing) {
    RETURN_IF_ERROR(journal::replace_missing_segment(files, segment));
    report.lines.push_back(fmt::format(
        "segment {} is missing and contains messages: replaced by an empty one", segment));
  }
  // An empty segment is one whose records are all lost.
  const auto again = TRY(journal::repair_journal(files, store::explain_damage));
  report.healthy = again.healthy;
  return {};
}

// Which damaged messages a repair is to drop: those with these keys, or all of them.
struct DropOptions {
  std::vector<std::string> keys;
  bool all = false;
};

Result<std::optional<std::set<queue::MessageKey>>> keys_to_drop(const DropOptions& options) {
  if (options.all) return std::nullopt;
  std::set<queue::MessageKey> keys;
  for (const std::string& text : options.keys) {
    const auto key = parse_int<std::uint64_t>(text);
    if (!key) {
      return fail(
          ErrorCode::invalid_parameter_value,
          fmt::format("{} is no key of a message; `redrive journal check` shows them", text));
    }
    keys.insert(static_cast<queue::MessageKey>(*key));
  }
  return keys;
}

// Damaged messages do not keep a server from starting: it sets them aside, and they can be dropped
// there, or here.
Result<journal::CheckReport> repair(journal::Files& files, const DropOptions& options) {
  const auto keys = TRY(keys_to_drop(options));
  journal::CheckReport report = TRY(journal::repair_journal(files, store::explain_damage));
  RETURN_IF_ERROR(replace_missing_segments(files, report));
  if (options.all || !options.keys.empty()) {
    const journal::CheckReport dropped = TRY(dead_letters::drop_offline(files, keys));
    report.lines.insert(report.lines.end(), dropped.lines.begin(), dropped.lines.end());
  }
  const auto messages = store::check_messages(files);
  if (!messages || messages->healthy) return report;
  report.lines.insert(report.lines.end(), messages->lines.begin(), messages->lines.end());
  report.lines.emplace_back(
      "damaged messages are not changed: the server sets them aside at start. To delete them, use "
      "`redrive queue damaged drop` then, or `redrive journal repair --drop KEY` now");
  report.healthy = false;
  return report;
}

// Exit codes: 0 healthy, 1 damage found (or repaired), 2 could not check.
int run_tool(const std::string& directory, const Tool& tool) {
  const auto report = [&]() -> Result<journal::CheckReport> {
    const auto files = TRY(journal::PosixFiles::open(directory, journal::OpenMode::must_exist));
    return tool(*files);
  }();
  if (!report) {
    fmt::print(stderr, "redrive: {}\n", report.error().message);
    return 2;
  }
  for (const std::string& line : report->lines) fmt::print("{}\n", line);
  fmt::print("{}\n", report->healthy ? "the journal is healthy" : "the journal is damaged");
  return report->healthy ? 0 : 1;
}

cli::Verb add_tool(cli::Verb parent, const char* name, const char* help, Tool tool,
                   int& exit_code) {
  cli::Verb command = parent.verb(name, help);
  auto directory = std::make_shared<std::string>("./data");
  command.option("--data", *directory, "Data directory").value_name("DIR").shows_default();
  command.runs(
      [directory, tool = std::move(tool), &exit_code] { exit_code = run_tool(*directory, tool); });
  return command;
}

}  // namespace

void add_journal_tools(cli::Verb program, int& exit_code) {
  cli::Verb journal =
      program.verb("journal", "Check or repair a data directory while no server runs on it");
  journal.needs_a_verb();
  add_tool(
      journal, "check", "Check a journal and report damage; changes nothing", &check, exit_code);
  auto options = std::make_shared<DropOptions>();
  cli::Verb repairs = add_tool(
      journal,
      "repair",
      "Remove damaged records; copies of changed files are kept",
      [options](journal::Files& files) { return repair(files, *options); },
      exit_code);
  cli::Option keys =
      repairs
          .option(
              "--drop", options->keys, "Also delete this damaged message permanently; repeatable")
          .value_name("KEY")
          .one_at_a_time();
  repairs.flag("--drop-all", options->all, "Also delete all damaged messages permanently")
      .excludes(keys);
}

}  // namespace redrive::app
