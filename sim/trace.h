#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/chance.h"

namespace redrive::sim {

// A step of a run: what it is called in Driver::choices(), every choice that it made, and what it
// told, for readers.
struct TracedStep {
  std::string name;
  Draws draws = {};
  std::vector<std::string> notes = {};
};

// A run as it went, independent of how steps are chosen: it repeats a bug also after steps were
// added to the simulator. The first step is kSetup, the last one is kDrain if the run got there.
//
// As text, a line for each step with its draws as value/bound, and notes behind `#`:
//
//   seed 1429
//   setup: 1/3 0/2 11/23
//   create queue: 2/8 0/5
//   receive: 3/7 1/10
//     # 2 of 2 from s1
struct Trace {
  std::uint64_t seed = 0;  // Of ids, and of draws that a step has to make beyond its own.
  std::vector<std::string> remarks = {};  // Comments before the seed: what the trace is for.
  std::vector<TracedStep> steps = {};

  // Where the draws of a step come from once its own are used up. Depends on the step alone, so
  // that dropping others does not change it.
  std::uint64_t seed_of(const TracedStep& step) const;
};

inline constexpr std::string_view kSetup = "setup";
inline constexpr std::string_view kDrain = "drain";

std::string write_trace(const Trace& trace);
Result<Trace> read_trace(std::string_view text);

Result<Trace> load_trace(const std::string& path);
Result<void> save_trace(const std::string& path, const Trace& trace);

}  // namespace redrive::sim
