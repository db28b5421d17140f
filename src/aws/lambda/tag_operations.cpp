#include <fmt/format.h>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "base/text.h"
#include "manage/documents/functions.h"

// Tags of functions and of mappings, which are named by their ARNs.

namespace redrive::lambda {
namespace {

constexpr std::size_t kTagsMax = 50;
constexpr std::string_view kMappingPart = ":event-source-mapping:";

// The mapping that an ARN names; empty when it names a function, or nothing.
std::string mapping_of_arn(std::string_view arn) {
  const std::size_t part = arn.find(kMappingPart);
  return part == arn.npos ? "" : std::string(arn.substr(part + kMappingPart.size()));
}

// Calls `use(Tags&)` with the tags of the resource of the path; it returns whether it changed them.
template <class Use>
Outcome<void> with_tags(Call& call, Use use) {
  const std::string_view arn = call.parameter("arn");
  if (!arn.starts_with("arn:")) {
    return breaks_constraint(arn, "resource", "be the ARN of a function or a mapping");
  }
  const std::string mapping = mapping_of_arn(arn);
  std::optional<CalledFunction> called;
  if (mapping.empty()) called = TRY(call.function_called(arn));
  return call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const auto use_of = [&](auto& owner) -> Outcome<void> {
      const bool changed = TRY(use(owner.tags));
      if (owner.tags.size() > kTagsMax) return invalid("There can be 50 tags at most.");
      if (changed) keep(turn, owner);
      return {};
    };
    if (called) {
      functions::Function function = TRY(load_function(turn, *called));
      return use_of(function);
    }
    functions::Mapping found = TRY(load_mapping(turn, mapping));
    RETURN_IF_ERROR(may_touch(call, turn, found));
    return use_of(found);
  });
}

}  // namespace

Outcome<Answer> list_tags(Call& call) {
  functions::Tags tags;
  RETURN_IF_ERROR(with_tags(call, [&](const functions::Tags& found) -> Outcome<bool> {
    tags = found;
    return false;
  }));
  return json_answer(200, documents::TagList{.tags = {tags.begin(), tags.end()}});
}

Outcome<Answer> tag_resource(Call& call) {
  const auto input = TRY(call.body<documents::TagList>());
  RETURN_IF_ERROR(with_tags(call, [&](functions::Tags& tags) -> Outcome<bool> {
    for (const auto& [name, value] : input.tags) tags[std::string(name)] = value;
    return true;
  }));
  return empty_answer(204);
}

Outcome<Answer> untag_resource(Call& call) {
  std::vector<std::string> names;
  for (const std::string_view field : split(call.request.query, '&')) {
    constexpr std::string_view kKeys = "tagKeys=";
    if (field.starts_with(kKeys)) names.push_back(percent_decode(field.substr(kKeys.size()), true));
  }
  RETURN_IF_ERROR(with_tags(call, [&](functions::Tags& tags) -> Outcome<bool> {
    for (const std::string& name : names) tags.erase(name);
    return true;
  }));
  return empty_answer(204);
}

}  // namespace redrive::lambda
