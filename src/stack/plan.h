#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/stack.h"

namespace redrive::stack {

// The tag that names the stack that created a resource. A resource without it existed before, or
// was created by hand: it is updated if a file names it, and never removed.
inline constexpr std::string_view kStackTag = "redrive:stack";

// An existing resource, described like a Resource.
struct Actual {
  Kind kind;
  std::string name;
  std::string handle;  // What API calls use to identify it: a URL, a UUID, an ARN.
  Node properties = Node::map();
  Tags tags;

  std::string title() const;
  std::string owner() const;  // The stack that created it; empty: none.
};

enum class Step : std::uint8_t {
  create,
  change,
  keep,
  remove,
  leave,  // Created by this stack and no longer in the file, but --prune was not given.
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
  const Resource* wanted = nullptr;  // For create, change, keep.
  const Actual* actual = nullptr;    // For everything except create.
  std::vector<Difference> differences;
  Node changes = Node::map();  // What to set, by property.
  Tags tags;                   // To add or replace; all of them for create.
  std::vector<std::string> tags_removed;
};

enum class Prune : std::uint8_t { no, yes };

// The steps to take, in order: creations and changes first, then removals. Points into both
// arguments. Refuses to touch resources of another stack.
Result<std::vector<PlanItem>> make_plan(const Stack& stack, const std::vector<Actual>& there,
                                        Prune prune);

}  // namespace redrive::stack
