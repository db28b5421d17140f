#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "functions/events/pattern_values.h"
#include "functions/events/record.h"

namespace redrive::events {

inline constexpr std::size_t kPatternBytesMax = 4096;
// `$or` multiplies: a pattern is expanded into all its combinations. Limits for their number,
inline constexpr std::size_t kPatternWaysMax = 1000;
// and for their leaves in total.
inline constexpr std::size_t kPatternLeavesMax = 4096;
inline constexpr std::size_t kPatternDepthMax = 128;

// The alternatives for one field; any one suffices.
using Leaf = std::vector<Alternative>;

// Conditions on a field: it must match every leaf, and every named member must match.
struct PatternNode {
  std::vector<std::shared_ptr<const Leaf>> leaves;  // Shared between combinations.
  std::map<std::string, PatternNode, std::less<>> members;
};

// An EventBridge event pattern applied to messages: whether a function wants to receive one.
// Immutable and thread-safe. Time is bounded by the sizes of pattern and message.
class Pattern {
 public:
  // A pattern for `body` matches only bodies of its own format: objects and arrays if it names
  // members, any other text if it does not.
  bool matches(const Record& record) const;

 private:
  friend Result<Pattern> parse_pattern(std::string_view json);
  std::vector<PatternNode> ways_;  // Any one suffices.
};

// Errors say only "Invalid filter pattern definition.", like AWS.
Result<Pattern> parse_pattern(std::string_view json);

// Whether any of the patterns matches. Without patterns everything matches.
bool any_matches(const std::vector<Pattern>& patterns, const Record& record);

}  // namespace redrive::events
