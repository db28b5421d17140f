#include "aws/cloudwatch/parameters.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <set>

#include "base/calendar.h"
#include "base/text.h"

namespace redrive::cloudwatch {
namespace {

constexpr std::size_t kParametersMax = 20'000;
constexpr std::size_t kDepthMax = 16;
constexpr std::string_view kMember = ".member.";

std::unexpected<Error> unusable(const std::string& name, std::string_view expected) {
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("The value of {} must be {}.", name, expected));
}

std::unexpected<Error> too_much() {
  return fail(ErrorCode::malformed_request, "The request has too many parameters.");
}

// JSON as Query would have it.
class Flattener {
 public:
  explicit Flattener(std::map<std::string, std::string>& values) : values_(values) {}

  Result<void> add(const std::string& name, const simdjson::dom::element& element,
                   std::size_t depth) {
    if (values_.size() > kParametersMax || depth > kDepthMax) return too_much();
    if (element.is_object()) {
      for (const auto& [key, value] : element.get_object()) {
        RETURN_IF_ERROR(add(
            name.empty() ? std::string(key) : fmt::format("{}.{}", name, key), value, depth + 1));
      }
    } else if (element.is_array()) {
      std::size_t index = 0;
      for (const auto& item : element.get_array()) {
        RETURN_IF_ERROR(add(fmt::format("{}{}{}", name, kMember, ++index), item, depth + 1));
      }
    } else if (element.is_string()) {
      values_[name] = std::string(std::string_view(element));
    } else if (!element.is_null()) {
      values_[name] = simdjson::minify(element);
    }
    return {};
  }

 private:
  std::map<std::string, std::string>& values_;
};

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > -1e300 && value < 1e300)) return {};
  return value;
}

// Clients write microseconds, and the zone as +00:00.
std::string in_milliseconds(std::string text) {
  if (text.ends_with("+00:00")) text.replace(text.size() - 6, 6, "Z");
  const std::size_t point = text.find('.');
  const bool fraction = point != std::string::npos && text.ends_with('Z');
  if (fraction && text.size() - point > 5) text.replace(point + 4, std::string::npos, "Z");
  return text;
}

}  // namespace

Result<Parameters> Parameters::from_form(std::string_view query, std::string_view body) {
  Parameters parameters;
  for (const std::string_view text : {query, body}) {
    for (const std::string_view pair : split(text, '&')) {
      if (pair.empty()) continue;
      if (parameters.values_.size() >= kParametersMax) return too_much();
      const std::size_t equals = std::min(pair.find('='), pair.size());
      std::string value = percent_decode(pair.substr(std::min(pair.size(), equals + 1)), true);
      std::string name = percent_decode(pair.substr(0, equals), true);
      if (!is_utf8(name) || !is_utf8(value)) {
        return fail(ErrorCode::malformed_request, "A parameter is not UTF-8.");
      }
      parameters.values_[std::move(name)] = std::move(value);
    }
  }
  return parameters;
}

Result<Parameters> Parameters::from_json(std::string_view body) {
  Parameters parameters;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS || !root.is_object()) {
    return fail(ErrorCode::malformed_request, "The body is not a JSON object.");
  }
  RETURN_IF_ERROR(Flattener(parameters.values_).add("", root, 0));
  return parameters;
}

std::optional<std::string> Parameters::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

Result<std::string> Parameters::required(const std::string& name) const {
  auto value = find(name);
  if (value && !value->empty()) return *std::move(value);
  return fail(ErrorCode::missing_parameter, fmt::format("The parameter {} is required.", name));
}

Result<std::optional<std::int64_t>> Parameters::integer(const std::string& name) const {
  const auto value = find(name);
  if (!value || value->empty()) return std::nullopt;
  const auto parsed = parse_int<std::int64_t>(*value);
  if (!parsed) return unusable(name, "an integer");
  return parsed;
}

Result<std::optional<double>> Parameters::number(const std::string& name) const {
  const auto value = find(name);
  if (!value || value->empty()) return std::nullopt;
  const auto parsed = parse_number(*value);
  if (!parsed) return unusable(name, "a number");
  return parsed;
}

Result<std::optional<bool>> Parameters::flag(const std::string& name) const {
  const auto value = find(name);
  if (!value || value->empty()) return std::nullopt;
  if (iequals(*value, "true")) return true;
  if (iequals(*value, "false")) return false;
  return unusable(name, "true or false");
}

Result<std::optional<Timestamp>> Parameters::time(const std::string& name) const {
  const auto value = find(name);
  if (!value || value->empty()) return std::nullopt;
  if (const auto moment = parse_utc(in_milliseconds(*value))) return moment;
  const auto seconds = parse_number(*value);
  if (!seconds || *seconds < 0 || *seconds > static_cast<double>(kCalendarEnd.seconds())) {
    return unusable(name, "a time such as 2026-01-01T00:00:00Z");
  }
  return Timestamp(static_cast<std::int64_t>(*seconds * 1000));
}

std::vector<std::string> Parameters::items(const std::string& list) const {
  const std::string prefix = list + std::string(kMember);
  std::set<std::uint32_t> indices;
  for (auto at = values_.lower_bound(prefix); at != values_.end() && at->first.starts_with(prefix);
       ++at) {
    const std::string_view rest = std::string_view(at->first).substr(prefix.size());
    if (const auto index = parse_int<std::uint32_t>(rest.substr(0, rest.find('.')))) {
      indices.insert(*index);
    }
  }
  std::vector<std::string> prefixes;
  for (const std::uint32_t index : indices) prefixes.push_back(fmt::format("{}{}", prefix, index));
  return prefixes;
}

std::vector<std::string> Parameters::texts(const std::string& list) const {
  std::vector<std::string> values;
  for (const std::string& item : items(list)) values.push_back(text(item));
  return values;
}

}  // namespace redrive::cloudwatch
