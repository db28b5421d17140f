// redrive-sim: runs seeds of the simulator.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/crowd.h"
#include "sim/driver.h"
#include "sim/isolation.h"

namespace {

using redrive::sim::Driver;
using redrive::sim::Verdict;

// An assertion of the server failed: say where, as the seed is all one needs.
void on_abort(int) {
  const std::string line = Driver::where() + ": aborted\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, line.data(), line.size());
  _exit(3);
}

struct Run {
  std::uint64_t seed;
  int steps;

  friend bool operator==(const Run&, const Run&) = default;
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

// On each line a seed, its number of steps, and what it once found. Other lines are for people.
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
  Driver driver({.seed = run.seed, .steps = run.steps, .verbose = verbose});
  Verdict verdict = driver.run();
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
  std::string skip_file;
  app.add_option("--skip-file", skip_file, "Known failures: seeds not to run, as in --seed-file");
  app.add_option("--steps", steps, "Steps of each run")->check(CLI::PositiveNumber);
  app.add_flag("--verbose", verbose, "Print every step");
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGABRT, on_abort);
  Tally tally;
  std::vector<Run> runs = read_seed_file(file);
  for (const Run& more : parse_seeds(range, steps)) runs.push_back(more);
  const std::vector<Run> known = read_seed_file(skip_file);
  const std::size_t skipped =
      std::erase_if(runs, [&](const Run& one) { return std::ranges::count(known, one) > 0; });
  if (skipped > 0) fmt::print("{} runs skipped, listed in {}\n", skipped, skip_file);
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
