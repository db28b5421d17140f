#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/pattern_values.h"
#include "events/record.h"

namespace redrive::events {

inline constexpr std::size_t kPatternBytesMax = 4096;
// `$or` multiplies: a pattern is all ways through it, written out. No more of these,
inline constexpr std::size_t kPatternWaysMax = 1000;
// and no more leaves in all of them together.
inline constexpr std::size_t kPatternLeavesMax = 4096;
inline constexpr std::size_t kPatternDepthMax = 128;

// The alternatives of one field; any of them suffices.
using Leaf = std::vector<Alternative>;

// What is asked of a field: to fit each leaf, and something of each named member.
struct PatternNode {
  std::vector<std::shared_ptr<const Leaf>> leaves;  // Shared by the ways through a pattern.
  std::map<std::string, PatternNode, std::less<>> members;
};

// An event pattern as EventBridge has it, put to messages: whether a function wants to see one.
// A value; any thread may ask. Time is bounded by the sizes of pattern and message.
class Pattern {
 public:
  // A pattern for `body` fits bodies of its own format only: objects and arrays for one that names
  // members, any other text for one that does not.
  bool matches(const Record& record) const;

 private:
  friend Result<Pattern> parse_pattern(std::string_view json);
  std::vector<PatternNode> ways_;  // Any of them suffices.
};

// "Invalid filter pattern definition." is all that the error says, as AWS does.
Result<Pattern> parse_pattern(std::string_view json);

// Several patterns: any of them suffices. None at all let everything pass.
bool any_matches(const std::vector<Pattern>& patterns, const Record& record);

}  // namespace redrive::events
