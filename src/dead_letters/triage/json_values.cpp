#include "dead_letters/triage/json_values.h"

#include <algorithm>
#include <limits>
#include <string>

#include "dead_letters/triage/json_scan.h"

namespace redrive::triage {
namespace {

using PathStep = JsonPath::Step;

// Walks a validated document. Recursion is bounded by the steps of the path.
class ValueFinder {
 public:
  ValueFinder(std::string_view text, std::vector<ByteRange>& found) : text_(text), found_(found) {}

  void walk(std::size_t at, std::span<const PathStep> steps) {
    if (steps.empty()) {
      found_.push_back({at, at + extent_of_json(text_, at).bytes});
    } else if (text_[at] == '{') {
      members(at, steps);
    } else if (text_[at] == '[') {
      items(at, steps);
    }
  }

 private:
  std::size_t skip(std::size_t at) const { return skip_json_blanks(text_, at); }
  std::size_t behind(std::size_t at) const { return skip(at + extent_of_json(text_, at).bytes); }

  void members(std::size_t at, std::span<const PathStep> steps) {
    const PathStep& step = steps.front();
    if (step.kind == PathStep::Kind::index) return;
    for (at = skip(at + 1); text_[at] != '}';) {
      const std::size_t key = at;
      const std::size_t colon = behind(key);
      at = skip(colon + 1);
      const bool meant = step.kind == PathStep::Kind::each || key_at(key) == step.key;
      if (meant) walk(at, steps.subspan(1));
      at = next(at);
    }
  }

  void items(std::size_t at, std::span<const PathStep> steps) {
    const PathStep& step = steps.front();
    if (step.kind == PathStep::Kind::key) return;
    std::size_t index = 0;
    for (at = skip(at + 1); text_[at] != ']'; at = next(at), ++index) {
      if (step.kind == PathStep::Kind::each || index == step.index) walk(at, steps.subspan(1));
    }
  }

  std::string key_at(std::size_t at) const {
    return unescape_json(text_.substr(at, extent_of_json(text_, at).bytes));
  }
  // Where the next item, or the closing bracket, starts.
  std::size_t next(std::size_t at) const {
    at = behind(at);
    return text_[at] == ',' ? skip(at + 1) : at;
  }

  std::string_view text_;
  std::vector<ByteRange>& found_;
};

}  // namespace

std::vector<ByteRange> find_json_values(std::string_view text, std::span<const JsonPath> paths) {
  std::vector<ByteRange> found;
  const bool json = !paths.empty() && check_json(text, std::numeric_limits<std::size_t>::max());
  if (!json) return found;
  ValueFinder finder(text, found);
  for (const JsonPath& path : paths) finder.walk(skip_json_blanks(text, 0), path.steps());
  std::ranges::sort(found, [](const ByteRange& a, const ByteRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::size_t end = 0;
  std::erase_if(found, [&](const ByteRange& range) {
    const bool inside = range.begin < end;
    end = std::max(end, range.end);
    return inside;
  });
  return found;
}

}  // namespace redrive::triage
