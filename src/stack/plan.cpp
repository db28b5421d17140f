#include "stack/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace redrive::stack {
namespace {

// Default values of properties. A stack's own resources are reset to them when the file no longer
// sets them.
struct Default {
  Kind kind;
  std::string_view property;
  std::string_view json;
};
constexpr std::array kDefaults = {
    Default{Kind::queue, "DelaySeconds", "0"},
    Default{Kind::queue, "MaximumMessageSize", "1048576"},
    Default{Kind::queue, "MessageRetentionPeriod", "345600"},
    Default{Kind::queue, "ReceiveMessageWaitTimeSeconds", "0"},
    Default{Kind::queue, "VisibilityTimeout", "30"},
    Default{Kind::queue, "RedrivePolicy", R"("")"},
    Default{Kind::queue, "RedriveAllowPolicy", R"("")"},
    Default{Kind::queue, "Policy", R"("")"},
    Default{Kind::queue, kDeadLetters, "{}"},
    Default{Kind::function, "Description", R"("")"},
    Default{Kind::function, "Timeout", "3"},
    Default{Kind::function, "MemorySize", "128"},
    Default{Kind::function, "Environment", R"({"Variables":{}})"},
    Default{Kind::function, "DeadLetterConfig", R"({"TargetArn":""})"},
    Default{Kind::function, "ReservedConcurrentExecutions", R"("")"},
    Default{Kind::invoke_config, "MaximumRetryAttempts", "2"},
    Default{Kind::invoke_config, "MaximumEventAgeInSeconds", "21600"},
    Default{Kind::invoke_config, "DestinationConfig", "{}"},
    Default{Kind::mapping, "BatchSize", "10"},
    Default{Kind::mapping, "MaximumBatchingWindowInSeconds", "0"},
    Default{Kind::mapping, "Enabled", "true"},
    Default{Kind::mapping, "FunctionResponseTypes", "[]"},
    Default{Kind::mapping, "FilterCriteria", R"({"Filters":[]})"},
    Default{Kind::mapping, "ScalingConfig", "{}"},
    Default{Kind::mapping, "BisectBatchOnFunctionError", "false"},
    Default{Kind::mapping, "IsolateRetries", "true"},
    Default{Kind::mapping, "MaximumRetryAttempts", "-1"},
    Default{Kind::mapping, "MaximumRecordAgeInSeconds", "-1"},
    Default{Kind::mapping, "DestinationConfig", "{}"},
    Default{Kind::mapping, "RetryPolicy", "[]"},
    Default{Kind::alarm, "ActionsEnabled", "true"},
    Default{Kind::alarm, "AlarmActions", "[]"},
    Default{Kind::alarm, "OKActions", "[]"},
    Default{Kind::alarm, "InsufficientDataActions", "[]"},
    Default{Kind::alarm, "AlarmDescription", R"("")"},
    Default{Kind::alarm, "TreatMissingData", R"("missing")"},
    Default{Kind::alarm, "Dimensions", "[]"},
};

Node default_of(Kind kind, std::string_view property) {
  for (const Default& row : kDefaults) {
    if (row.kind == kind && row.property == property) return *read_json(row.json);
  }
  return Node::text("");
}

// The documents in a queue's attributes are JSON texts.
Node meaning_of(const Node& value) {
  if (value.is_text() && value.scalar().starts_with('{')) {
    if (auto parsed = read_json(value.scalar())) return *std::move(parsed);
  }
  return value;
}

// Some servers return empty parts of a map, others omit them.
Node without_empty_parts(Node value) {
  for (auto& [name, item] : value.members()) item = without_empty_parts(std::move(item));
  std::erase_if(value.members(), [](const Node::Member& member) {
    const Node& item = member.second;
    return item.is_null() || (!item.is_scalar() && item.items().empty() && item.members().empty());
  });
  return value;
}

// Servers return all members of a retrier, files contain those that differ from Step Functions'
// defaults.
Node with_retrier_defaults(Node policy) {
  constexpr std::pair<std::string_view, std::string_view> kRetrierDefaults[] = {
      {"IntervalSeconds", "1"},
      {"MaxAttempts", "3"},
      {"BackoffRate", "2.0"},
      {"JitterStrategy", R"("NONE")"},
  };
  for (Node& retrier : policy.items()) {
    for (const auto& [member, json] : kRetrierDefaults) {
      if (retrier[member].is_null()) retrier.set(member, *read_json(json));
    }
  }
  return policy;
}

Node effective(const Node& properties, Kind kind, std::string_view property) {
  const Node* const said = properties.find(property);
  const bool none = said == nullptr || said->is_null();
  Node value = none ? default_of(kind, property) : meaning_of(*said);
  if (kind == Kind::mapping && property == "RetryPolicy") {
    value = with_retrier_defaults(std::move(value));
  }
  return without_empty_parts(std::move(value));
}

std::string shown(const Node& value) {
  constexpr std::size_t kShownMax = 120;
  std::string text = value.is_scalar() ? value.scalar() : value.json();
  if (text.empty()) return "nothing";
  if (text.size() <= kShownMax) return text;
  std::size_t cut = kShownMax;
  // Do not cut a UTF-8 character.
  while ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "…";
}

// Servers return a log group and levels even if they were not set.
Node only_members_of(const Node& wanted, Node value) {
  std::erase_if(value.members(),
                [&](const Node::Member& member) { return !wanted.has(member.first); });
  return value;
}

void compare(PlanItem& item, std::string_view property) {
  Node before = effective(item.actual->properties, item.kind, property);
  const Node after = effective(item.wanted->properties, item.kind, property);
  if (item.kind == Kind::function && property == "LoggingConfig") {
    before = only_members_of(after, std::move(before));
  }
  if (before.means(after)) return;
  item.differences.push_back({std::string(property), shown(before), shown(after)});
  const Node* const said = item.wanted->properties.find(property);
  item.changes.set(property, said == nullptr ? default_of(item.kind, property) : *said);
}

void compare_tags(PlanItem& item, bool own) {
  for (const auto& [key, value] : item.wanted->tags) {
    const auto found = item.actual->tags.find(key);
    if (found != item.actual->tags.end() && found->second == value) continue;
    item.tags[key] = value;
    const bool was = found != item.actual->tags.end();
    item.differences.push_back({"tag " + key, was ? found->second : "nothing", value});
  }
  if (!own) return;
  for (const auto& [key, value] : item.actual->tags) {
    if (key == kStackTag || item.wanted->tags.contains(key)) continue;
    item.tags_removed.push_back(key);
    item.differences.push_back({"tag " + key, value, "nothing"});
  }
}

PlanItem compared(const Resource& wanted, const Actual& actual, const std::string& stack) {
  PlanItem item{.step = Step::keep,
                .kind = wanted.kind,
                .title = wanted.title(),
                .wanted = &wanted,
                .actual = &actual};
  for (const auto& [property, value] : wanted.properties.members()) compare(item, property);
  const bool own = actual.owner() == stack;
  for (const Default& row : kDefaults) {
    if (own && row.kind == wanted.kind && !wanted.properties.has(row.property)) {
      compare(item, row.property);
    }
  }
  compare_tags(item, own);
  if (!item.differences.empty()) item.step = Step::change;
  return item;
}

PlanItem created(const Resource& wanted, const std::string& stack) {
  PlanItem item{.step = Step::create,
                .kind = wanted.kind,
                .title = wanted.title(),
                .wanted = &wanted,
                .changes = wanted.properties,
                .tags = wanted.tags};
  item.tags[std::string(kStackTag)] = stack;
  return item;
}

template <class Things>
auto* find_thing(Things& things, Kind kind, const std::string& name) {
  const auto found = std::ranges::find_if(
      things, [&](const auto& thing) { return thing.kind == kind && thing.name == name; });
  return found == things.end() ? nullptr : &*found;
}

}  // namespace

std::string Actual::title() const {
  return Resource{.kind = kind, .id = {}, .name = name}.title();
}

std::string Actual::owner() const {
  const auto found = tags.find(std::string(kStackTag));
  return found == tags.end() ? "" : found->second;
}

Result<std::vector<PlanItem>> make_plan(const Stack& stack, const std::vector<Actual>& there,
                                        Prune prune) {
  std::vector<PlanItem> plan;
  for (const Resource& wanted : stack.resources) {
    const Actual* const actual = find_thing(there, wanted.kind, wanted.name);
    if (actual == nullptr) {
      plan.push_back(created(wanted, stack.name));
      continue;
    }
    if (!actual->owner().empty() && actual->owner() != stack.name) {
      return fail(ErrorCode::usage,
                  fmt::format("{} belongs to the stack {}", actual->title(), actual->owner()));
    }
    plan.push_back(compared(wanted, *actual, stack.name));
  }
  std::vector<PlanItem> gone;
  for (const Actual& actual : there) {
    if (actual.owner() != stack.name) continue;
    if (find_thing(stack.resources, actual.kind, actual.name) != nullptr) continue;
    gone.push_back({.step = prune == Prune::yes ? Step::remove : Step::leave,
                    .kind = actual.kind,
                    .title = actual.title(),
                    .actual = &actual});
  }
  std::ranges::stable_sort(gone, std::greater(), &PlanItem::kind);
  std::ranges::move(gone, std::back_inserter(plan));
  return plan;
}

}  // namespace redrive::stack
