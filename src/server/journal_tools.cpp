#include "server/journal_tools.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "journal/journal.h"
#include "journal/posix_files.h"
#include "store/change_codec.h"
#include "store/check_messages.h"

namespace redrive::server {
namespace {

using Tool = Result<journal::CheckReport> (*)(journal::Files&);

Result<journal::CheckReport> check(journal::Files& files) {
  journal::CheckReport report = TRY(journal::check_journal(files, store::explain_damage));
  const auto messages = store::check_messages(files);
  if (!messages) {
    report.lines.push_back(fmt::format("messages were not checked, as a start would fail: {}",
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
  if (!missing || missing->empty()) return {};  // What cannot be replayed has been told of.
  for (const std::uint32_t segment : *missing) {
    CHECK(journal::replace_missing_segment(files, segment));
    report.lines.push_back(fmt::format(
        "segment {} is missing, and messages are in it: replaced by an empty one", segment));
  }
  // An empty segment is one whose records are all lost.
  const auto again = TRY(journal::repair_journal(files, store::explain_damage));
  report.healthy = again.healthy;
  return {};
}

// Damaged messages do not keep a server from starting: it sets them aside, and they can be dropped
// there.
Result<journal::CheckReport> repair(journal::Files& files) {
  journal::CheckReport report = TRY(journal::repair_journal(files, store::explain_damage));
  CHECK(replace_missing_segments(files, report));
  const auto messages = store::check_messages(files);
  if (!messages || messages->healthy) return report;
  report.lines.insert(report.lines.end(), messages->lines.begin(), messages->lines.end());
  report.lines.emplace_back(
      "damaged messages stay as they are: the server sets them aside when it is started, and "
      "`redrive "
      "queue damaged drop` deletes them");
  report.healthy = false;
  return report;
}

// Exit codes: 0 healthy, 1 damage found (or repaired), 2 could not look.
int run_tool(const std::string& directory, Tool tool) {
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

void add_tool(cli::Verb parent, const char* name, const char* help, Tool tool, int& exit_code) {
  cli::Verb command = parent.verb(name, help);
  auto directory = std::make_shared<std::string>("./data");
  command.option("--data", *directory, "Directory that holds the messages")
      .value_name("DIR")
      .shows_default();
  command.runs([directory, tool, &exit_code] { exit_code = run_tool(*directory, tool); });
}

}  // namespace

void add_journal_tools(cli::Verb program, int& exit_code) {
  cli::Verb journal =
      program.verb("journal", "Look after a data directory; no server may be running on it");
  journal.needs_a_verb();
  add_tool(
      journal, "check", "Tell what is there and what is wrong; changes nothing", &check, exit_code);
  add_tool(journal,
           "repair",
           "Keep every record that is whole and cut out the rest; damaged files are kept beside",
           &repair,
           exit_code);
}

}  // namespace redrive::server
