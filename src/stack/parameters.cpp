// Values of template parameters.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "base/text.h"
#include "stack/document.h"

namespace redrive::stack {
namespace {

constexpr std::size_t kParameterBytesMax = 4096;
// std::regex recurses once for each character, so longer values are not matched by it.
constexpr std::size_t kMatchedBytesMax = 1024;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// What CloudFormation says about a value that is not allowed; empty: it is allowed.
class ParameterCheck {
 public:
  ParameterCheck(const TemplateParameter& parameter, const std::string& value)
      : parameter_(parameter), value_(value) {}

  std::string complaint() const {
    if (value_.size() > kParameterBytesMax) {
      return fmt::format("Parameter '{}' must not be larger than 4096 bytes", parameter_.name);
    }
    std::string complaint = by_number();
    if (complaint.empty()) complaint = by_list();
    if (complaint.empty()) complaint = by_length();
    if (complaint.empty()) complaint = by_pattern();
    const std::string& described = parameter_.declared["ConstraintDescription"].scalar();
    if (complaint.empty() || described.empty()) return complaint;
    return fmt::format("Parameter {} failed to satisfy constraint: {}", parameter_.name, described);
  }

 private:
  const Node& rule(std::string_view name) const { return parameter_.declared[name]; }

  std::string by_number() const {
    if (parameter_.type != "Number") return {};
    const auto number = number_in(value_);
    if (!number) {
      return fmt::format("Parameter '{}' must be a number.", parameter_.name);
    }
    const auto least = number_in(rule("MinValue").scalar());
    if (least && *number < *least) {
      return fmt::format("Parameter '{}' must be a number not less than {}",
                         parameter_.name,
                         rule("MinValue").scalar());
    }
    const auto most = number_in(rule("MaxValue").scalar());
    if (most && *number > *most) {
      return fmt::format("Parameter '{}' must be a number not greater than {}",
                         parameter_.name,
                         rule("MaxValue").scalar());
    }
    return {};
  }

  std::string by_list() const {
    const Node& allowed = rule("AllowedValues");
    const auto is_allowed = [&](std::string_view one) {
      return std::ranges::any_of(allowed.items(),
                                 [&](const Node& node) { return node.scalar() == one; });
    };
    if (allowed.items().empty()) return {};
    bool fits = is_allowed(value_);
    if (parameter_.is_list()) {
      fits = std::ranges::all_of(split(value_, ','),
                                 [&](std::string_view one) { return is_allowed(trimmed(one)); });
    }
    return fits ? "" : fmt::format("Parameter '{}' must be one of AllowedValues", parameter_.name);
  }

  std::string by_length() const {
    const auto least = rule("MinLength").integer();
    if (least && static_cast<std::int64_t>(value_.size()) < *least) {
      return fmt::format(
          "Parameter '{}' must contain at least {} characters", parameter_.name, *least);
    }
    const auto most = rule("MaxLength").integer();
    if (most && static_cast<std::int64_t>(value_.size()) > *most) {
      return fmt::format(
          "Parameter '{}' must contain at most {} characters", parameter_.name, *most);
    }
    return {};
  }

  std::string by_pattern() const {
    const std::string& pattern = rule("AllowedPattern").scalar();
    if (pattern.empty()) return {};
    bool fits = false;
    try {
      fits = value_.size() <= kMatchedBytesMax && std::regex_match(value_, std::regex(pattern));
    } catch (const std::regex_error&) {
      return fmt::format("Parameter '{}' has an AllowedPattern that is no regular expression: {}",
                         parameter_.name,
                         pattern);
    }
    return fits ? ""
                : fmt::format("Parameter '{}' must match pattern {}", parameter_.name, pattern);
  }

  const TemplateParameter& parameter_;
  const std::string& value_;
};

}  // namespace

Result<ParameterValues> complete_parameters(const Document& document,
                                            const ParameterValues& given) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : given) {
    if (!document.root()["Parameters"].has(name)) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    return fail(
        ErrorCode::usage,
        fmt::format("Parameters: [{}] do not exist in the template", fmt::join(unknown, ", ")));
  }
  ParameterValues values;
  std::vector<std::string> missing;
  for (const TemplateParameter& parameter : document.parameters()) {
    const auto found = given.find(parameter.name);
    if (found == given.end() && !parameter.has_default) {
      missing.push_back(parameter.name);
      continue;
    }
    const std::string& value = found == given.end() ? parameter.default_value : found->second;
    const std::string complaint = ParameterCheck(parameter, value).complaint();
    if (!complaint.empty()) return fail(ErrorCode::usage, complaint);
    values[parameter.name] = value;
  }
  if (missing.empty()) return values;
  return fail(ErrorCode::usage,
              fmt::format("Parameters: [{}] must have values", fmt::join(missing, ", ")));
}

Node parameter_node(const TemplateParameter& parameter, const std::string& value) {
  if (!parameter.is_list()) return Node::text(value);
  Node list = Node::list();
  for (const std::string_view item : split(value, ',')) {
    list.items().push_back(Node::text(trimmed(item)));
  }
  return list;
}

}  // namespace redrive::stack
