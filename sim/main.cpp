// redrive-sim: runs seeds of the simulator.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/crowd.h"
#include "sim/driver.h"
#include "sim/isolation.h"
#include "sim/replay.h"

namespace {

using redrive::sim::Driver;
using redrive::sim::Verdict;

// The run that is being recorded, and where to.
struct Recording {
  std::string path;
  redrive::sim::Trace trace;

  redrive::sim::Trace* target() { return path.empty() ? nullptr : &trace; }
  void save(const std::string& remark) {
    if (path.empty()) return;
    if (!remark.empty()) trace.remarks.push_back(remark);
    if (const auto saved = save_trace(path, trace); !saved) fail_with(saved.error().message);
  }
  [[noreturn]] static void fail_with(const std::string& message) {
    fmt::print(stderr, "redrive-sim: {}\n", message);
    std::exit(EXIT_FAILURE);
  }
};
Recording recording;

// An assertion of the server failed: report the seed, which is all that is needed.
void on_abort(int) {
  const std::string line = Driver::where() + ": aborted\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, line.data(), line.size());
  recording.save(Driver::where() + ": aborted");
  _exit(3);
}

struct Run {
  std::uint64_t seed;
  int steps;
};

// "7" or "1..500".
std::vector<Run> parse_seeds(const std::string& text, int steps) {
  const std::size_t dots = text.find("..");
  const auto first = redrive::parse_int<std::uint64_t>(text.substr(0, dots));
  const auto last =
      dots == std::string::npos ? first : redrive::parse_int<std::uint64_t>(text.substr(dots + 2));
  std::vector<Run> runs;
  if (!first || !last) return runs;
  for (std::uint64_t seed = *first; seed <= *last; ++seed) runs.push_back({seed, steps});
  return runs;
}

// Each line has a seed, its number of steps, and what it once found. Other lines are comments.
std::vector<Run> read_seed_file(const std::string& path) {
  std::vector<Run> runs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto words = redrive::split(line, ' ');
    if (words.size() < 2) continue;
    const auto seed = redrive::parse_int<std::uint64_t>(words[0]);
    const auto steps = redrive::parse_int<int>(words[1]);
    if (seed && steps) runs.push_back({*seed, *steps});
  }
  return runs;
}

struct Tally {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  redrive::sim::World::Totals totals;

  void add(const Verdict& verdict) {
    ++(verdict.passed ? passed : failed);
    totals.records += verdict.totals.records;
    totals.dead_lettered += verdict.totals.dead_lettered;
    totals.redriven += verdict.totals.redriven;
    totals.failed += verdict.totals.failed;
    totals.grouped += verdict.totals.grouped;
    totals.discarded += verdict.totals.discarded;
    totals.edited += verdict.totals.edited;
    totals.flipped += verdict.totals.flipped;
    totals.damaged += verdict.totals.damaged;
    totals.archived += verdict.totals.archived;
    totals.archived_by_policy += verdict.totals.archived_by_policy;
    totals.unarchived += verdict.totals.unarchived;
    totals.halted += verdict.totals.halted;
    totals.recoveries += verdict.totals.recoveries;
    totals.records_lost += verdict.totals.records_lost;
    totals.checkpoints += verdict.totals.checkpoints;
    totals.relocations += verdict.totals.relocations;
    totals.storage_failures += verdict.totals.storage_failures;
  }
};

Verdict run(const Run& run, bool verbose) {
  Driver driver(
      {.seed = run.seed, .steps = run.steps, .verbose = verbose, .record = recording.target()});
  Verdict verdict = driver.run();
  recording.save(verdict.invariant);
  if (!verdict.passed) {
    fmt::print("seed {} step {}: {}: {}  (redrive-sim --seed {} --steps {} --verbose)\n",
               run.seed,
               verdict.step,
               verdict.invariant,
               verdict.detail,
               run.seed,
               run.steps);
    std::fflush(stdout);
  }
  return verdict;
}

redrive::sim::Trace load(const std::string& path) {
  auto trace = redrive::sim::load_trace(path);
  if (!trace) Recording::fail_with(trace.error().message);
  if (const auto known = redrive::sim::check_trace(*trace); !known) {
    Recording::fail_with(fmt::format("{}: {}", path, known.error().message));
  }
  return std::move(*trace);
}

Verdict replay(const std::string& path, bool verbose) {
  const redrive::sim::Trace trace = load(path);
  recording.trace.remarks = trace.remarks;
  Driver driver({.verbose = verbose, .replay = &trace, .record = recording.target()});
  Verdict verdict = driver.run();
  recording.save({});
  if (!verdict.passed) {
    fmt::print("{} step {}: {}: {}  (redrive-sim --replay {} --verbose)\n",
               path,
               verdict.step,
               verdict.invariant,
               verdict.detail,
               path);
    std::fflush(stdout);
  }
  return verdict;
}

int shrink(const std::string& path) {
  const redrive::sim::Trace trace = load(path);
  const std::string failure = redrive::sim::failure_of(trace);
  if (failure.empty())
    Recording::fail_with(fmt::format("{} passes, there is nothing to shrink", path));
  recording.trace = redrive::sim::shrink_failure(trace);
  recording.save({});
  fmt::print("{}: {} steps, not {}\n", failure, recording.trace.steps.size(), trace.steps.size());
  return EXIT_SUCCESS;
}

Verdict run_isolation(std::uint64_t seed, bool verbose) {
  redrive::sim::IsolationRun isolation({.seed = seed, .verbose = verbose});
  Verdict verdict = isolation.run();
  if (!verdict.passed) {
    fmt::print("isolation {} step {}: {}: {}  (redrive-sim --isolation {} --verbose)\n",
               seed,
               verdict.step,
               verdict.invariant,
               verdict.detail,
               seed);
    std::fflush(stdout);
  }
  return verdict;
}

Verdict run_crowd(std::uint64_t seed, bool verbose) {
  redrive::sim::Crowd crowd(seed, verbose);
  Verdict verdict = crowd.run();
  if (!verdict.passed) {
    fmt::print("crowd {} step {}: {}: {}  (redrive-sim --crowds {} --verbose)\n",
               seed,
               verdict.step,
               verdict.invariant,
               verdict.detail,
               seed);
    std::fflush(stdout);
  }
  return verdict;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs the server in one thread against a model, with seeded chance and misfortune."};
  std::string range;
  std::string file;
  int steps = 400;
  bool verbose = false;
  app.add_option("--seeds,--seed", range, "A seed, or a range of them: 1..500");
  std::string crowds;
  app.add_option("--crowds", crowds, "Seeds of runs with many thousands of messages: 1..10");
  std::string isolation;
  app.add_option(
      "--isolation", isolation, "Seeds of runs with a handler that fails whole batches: 1..200");
  app.add_option("--seed-file", file, "Seeds to run first, with their steps: one a line");
  std::vector<std::string> traces;
  app.add_option("--replay", traces, "Traces to replay before anything else")
      ->check(CLI::ExistingFile);
  app.add_option("--record", recording.path, "Where to write the trace of a single run");
  bool shrinks = false;
  app.add_flag("--shrink",
               shrinks,
               "Drop steps from the trace of --replay while it fails in the same way, and write "
               "what is left to the file of --record");
  app.add_option("--steps", steps, "Steps of each run")->check(CLI::PositiveNumber);
  app.add_flag("--verbose", verbose, "Print every step");
  CLI11_PARSE(app, argc, argv);

  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, on_abort);
  Tally tally;
  std::vector<Run> runs = read_seed_file(file);
  for (const Run& more : parse_seeds(range, steps)) runs.push_back(more);
  if (!recording.path.empty() && runs.size() + traces.size() != 1) {
    Recording::fail_with("--record takes a single --seed or --replay");
  }
  if (shrinks && (traces.size() != 1 || recording.path.empty())) {
    Recording::fail_with("--shrink takes one --replay, and a --record to write to");
  }
  if (shrinks) return shrink(traces.front());
  for (const std::string& path : traces) tally.add(replay(path, verbose));
  for (const Run& next : runs) tally.add(run(next, verbose));
  for (const Run& next : parse_seeds(isolation, 0)) tally.add(run_isolation(next.seed, verbose));
  for (const Run& next : parse_seeds(crowds, 0)) tally.add(run_crowd(next.seed, verbose));
  fmt::print(
      "{} records, {} messages dead-lettered, {} redriven, {} failures reported, {} grouped, {} "
      "discarded, {} edited, {} bits flipped, {} messages damaged, {} archived ({} by a policy), "
      "{} taken back, {} jobs halted; {} "
      "recoveries, {} records "
      "lost "
      "unacknowledged, {} checkpoints, {} messages relocated, {} storage failures\n",
      tally.totals.records,
      tally.totals.dead_lettered,
      tally.totals.redriven,
      tally.totals.failed,
      tally.totals.grouped,
      tally.totals.discarded,
      tally.totals.edited,
      tally.totals.flipped,
      tally.totals.damaged,
      tally.totals.archived,
      tally.totals.archived_by_policy,
      tally.totals.unarchived,
      tally.totals.halted,
      tally.totals.recoveries,
      tally.totals.records_lost,
      tally.totals.checkpoints,
      tally.totals.relocations,
      tally.totals.storage_failures);
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return tally.failed == 0 && tally.passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
