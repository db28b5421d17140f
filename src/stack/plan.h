#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/stack.h"

namespace redrive::stack {

// The tag that says which stack made a resource. What has none was there before, or was made by
// hand: it is brought into line when a file names it, and never removed.
inline constexpr std::string_view kStackTag = "redrive:stack";

// One thing that is there, in the same words as a Resource.
struct Actual {
  Kind kind;
  std::string name;
  std::string handle;  // What calls about it name it by: a URL, a UUID, an ARN.
  Node properties = Node::map();
  Tags tags;

  std::string title() const;
  std::string owner() const;  // The stack that made it; empty: none did.
};

enum class Step : std::uint8_t {
  create,
  change,
  keep,
  remove,
  leave,  // Made by this stack and no longer in the file, but nobody said --prune.
};

struct Difference {
  std::string property;
  std::string before;
  std::string after;
};

struct PlanItem {
  Step step;
  Kind kind;
  std::string title;
  const Resource* wanted = nullptr;  // Of create, change, keep.
  const Actual* actual = nullptr;    // Of everything but create.
  std::vector<Difference> differences;
  Node changes = Node::map();  // What to set, by property.
  Tags tags;                   // To add or replace; all of them when it is created.
  std::vector<std::string> tags_removed;
};

enum class Prune : std::uint8_t { no, yes };

// What to do, in order: first what is made or changed, then what is removed. Points into both
// arguments. Refuses to touch what another stack made.
Result<std::vector<PlanItem>> make_plan(const Stack& stack, const std::vector<Actual>& there,
                                        Prune prune);

}  // namespace redrive::stack
