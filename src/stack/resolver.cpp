#include "stack/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/pattern.h"
#include "base/text.h"

namespace redrive::stack {
namespace {

constexpr std::size_t kDepthMax = 100;

std::unexpected<Error> unusable(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

// Types with names, and the property that holds the name.
struct NamedType {
  std::string_view type;
  std::string_view property;
  std::size_t size_max;
};
constexpr std::array kNamedTypes = {
    NamedType{"AWS::SQS::Queue", "QueueName", 80},
    NamedType{"AWS::Lambda::Function", "FunctionName", 64},
    NamedType{"AWS::Serverless::Function", "FunctionName", 64},
    NamedType{"AWS::S3::Bucket", "BucketName", 63},
    NamedType{"AWS::CloudWatch::Alarm", "AlarmName", 255},
    NamedType{"AWS::IAM::Role", "RoleName", 64},
    NamedType{"AWS::SNS::Topic", "TopicName", 256},
};

const NamedType* find_named_type(std::string_view type) {
  const auto found = std::ranges::find(kNamedTypes, type, &NamedType::type);
  return found == kNamedTypes.end() ? nullptr : &*found;
}

// stack-LogicalId, shortened with a digest if it exceeds the limit.
std::string made_name(std::string whole, std::size_t size_max, std::string_view suffix) {
  if (whole.size() + suffix.size() > size_max) {
    const std::string digest = sha256_hex(whole).substr(0, 8);
    whole.resize(size_max - suffix.size() - digest.size() - 1);
    whole += "-" + digest;
  }
  return whole + std::string(suffix);
}

std::string bucket_name(std::string_view whole) {
  std::string name = to_lower(whole);
  std::ranges::replace_if(
      name, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); }, '-');
  return name;
}

bool is_function_of(const Node& value) {
  if (!value.is_map() || value.members().size() != 1) return false;
  const std::string& name = value.members()[0].first;
  return name == "Ref" || name.starts_with("Fn::");
}

}  // namespace

Result<void> Resolver::read_parameters() {
  for (const auto& [name, declared] : root_["Parameters"].members()) {
    const auto given = around_.parameters.find(name);
    if (given == around_.parameters.end() && !declared.has("Default")) {
      return unusable(
          fmt::format("the parameter {} has no value; pass --parameter {}=…", name, name));
    }
    const std::string value =
        given == around_.parameters.end() ? declared["Default"].scalar() : given->second;
    const Node& allowed = declared["AllowedValues"];
    const bool fits = allowed.items().empty() ||
                      std::ranges::any_of(allowed.items(),
                                          [&](const Node& one) { return one.scalar() == value; });
    if (!fits) return unusable(fmt::format("the parameter {} may not be {}", name, value));
    const std::string& type = declared["Type"].scalar();
    Node node = Node::text(value);
    if (type == "CommaDelimitedList" || type.starts_with("List<")) {
      node = Node::list();
      for (const std::string_view item : split(value, ',')) {
        node.items().push_back(Node::text(std::string(item)));
      }
    }
    parameters_[name] = std::move(node);
  }
  for (const auto& [name, value] : around_.parameters) {
    if (!parameters_.contains(name)) {
      return unusable(fmt::format("the template has no parameter {}", name));
    }
  }
  return {};
}

Result<Node> Resolver::value(const Node& value) {
  return TRY(resolve(value)).value_or(Node());
}

Result<std::string> Resolver::text(const Node& node) {
  const Node resolved = TRY(value(node));
  if (!resolved.is_scalar()) return unusable("expected a string, found a list or map");
  return resolved.scalar();
}

Resolver::Resolved Resolver::resolve(const Node& value) {
  if (value.is_scalar()) return std::optional(value);
  struct Level {
    explicit Level(std::size_t& depth) : depth_(++depth) {}
    ~Level() { --depth_; }
    std::size_t& depth_;
  } level(depth_);
  if (depth_ > kDepthMax) return unusable("functions are nested too deeply");
  if (is_function_of(value)) {
    return function(value.members()[0].first, value.members()[0].second);
  }
  return std::optional(TRY(value.is_map() ? map(value) : list(value)));
}

Result<Node> Resolver::map(const Node& value) {
  Node out = Node::map();
  for (const auto& [name, item] : value.members()) {
    auto resolved = TRY(resolve(item));
    if (resolved) out.members().emplace_back(name, *std::move(resolved));
  }
  return out;
}

Result<Node> Resolver::list(const Node& value) {
  Node out = Node::list();
  for (const Node& item : value.items()) {
    auto resolved = TRY(resolve(item));
    if (resolved) out.items().push_back(*std::move(resolved));
  }
  return out;
}

Resolver::Resolved Resolver::function(const std::string& name, const Node& argument) {
  if (name == "Ref" && argument.scalar() == "AWS::NoValue") return std::optional<Node>();
  if (name == "Ref") return std::optional(TRY(ref(argument.scalar())));
  if (name == "Fn::If") return choose(argument);
  if (name == "Fn::GetAtt") return std::optional(TRY(get_attribute(argument)));
  if (name == "Fn::Sub") return std::optional(TRY(sub(argument)));
  if (name == "Fn::Join") return std::optional(TRY(join(argument)));
  if (name == "Fn::Select") return std::optional(TRY(select(argument)));
  if (name == "Fn::Split") return std::optional(TRY(split_text(argument)));
  if (name == "Fn::FindInMap") return std::optional(TRY(find_in_map(argument)));
  if (name == "Fn::Base64") return std::optional(Node::text(base64_encode(TRY(text(argument)))));
  if (name == "Fn::ToJsonString") return std::optional(Node::text(TRY(value(argument)).json()));
  if (name == "Fn::Length") {
    return std::optional(
        Node::number(static_cast<std::int64_t>(TRY(value(argument)).items().size())));
  }
  if (name == "Fn::GetAZs") {
    return std::optional(Node::list({Node::text(around_.region + "a"),
                                     Node::text(around_.region + "b"),
                                     Node::text(around_.region + "c")}));
  }
  return unusable(fmt::format("the intrinsic function {} is not supported", name));
}

Result<Node> Resolver::pseudo(const std::string& name) {
  if (name == "AWS::AccountId") return Node::text(around_.account);
  if (name == "AWS::Region") return Node::text(around_.region);
  if (name == "AWS::Partition") return Node::text("aws");
  if (name == "AWS::StackName") return Node::text(around_.stack_name);
  if (name == "AWS::URLSuffix") return Node::text("amazonaws.com");
  if (name == "AWS::NotificationARNs") return Node::list();
  if (name == "AWS::StackId") {
    return Node::text(around_.arn("cloudformation", "stack/" + around_.stack_name + "/redrive"));
  }
  return unusable(fmt::format("the reference {} is not supported", name));
}

Result<Node> Resolver::ref(const std::string& name) {
  if (name.starts_with("AWS::")) return pseudo(name);
  if (const auto found = parameters_.find(name); found != parameters_.end()) return found->second;
  if (!root_["Resources"].has(name)) {
    return unusable(fmt::format("{} is neither a parameter nor a resource", name));
  }
  const std::string physical = TRY(name_of(name));
  if (type_of(name) == "AWS::SQS::Queue") return Node::text(around_.queue_url(physical));
  if (type_of(name) == "AWS::SNS::Topic") return Node::text(around_.arn("sns", physical));
  return Node::text(physical);
}

Node Resolver::properties_of(const std::string& id) const {
  Node properties = resource(id)["Properties"];
  if (type_of(id) != "AWS::Serverless::Function") return properties;
  for (const auto& [name, common] : root_["Globals"]["Function"].members()) {
    const Node* const own = properties.find(name);
    if (own == nullptr) {
      properties.set(name, common);
      continue;
    }
    // Maps are merged one level deep, for environments and tags.
    if (!own->is_map() || !common.is_map() || is_function_of(*own)) continue;
    Node joined = *own;
    for (const auto& [key, item] : common.members()) {
      if (!joined.has(key)) {
        joined.set(key, item);
      } else if (item.is_map() && joined[key].is_map()) {
        Node deeper = joined[key];
        for (const auto& [inner, leaf] : item.members()) {
          if (!deeper.has(inner)) deeper.set(inner, leaf);
        }
        joined.set(key, std::move(deeper));
      }
    }
    properties.set(name, std::move(joined));
  }
  return properties;
}

Result<std::string> Resolver::name_of(const std::string& id) {
  if (const auto found = names_.find(id); found != names_.end()) return found->second;
  const NamedType* const type = find_named_type(type_of(id));
  const std::string whole = around_.stack_name + "-" + id;
  if (type == nullptr) return whole;
  if (!open_.insert("name " + id).second) {
    return unusable(fmt::format("the name of {} depends on itself", id));
  }
  const Node properties = properties_of(id);
  std::string name = TRY(text(properties[type->property]));
  if (name.empty()) {
    const Node fifo = TRY(value(properties["FifoQueue"]));
    const bool is_bucket = type->property == "BucketName";
    name = made_name(is_bucket ? bucket_name(whole) : whole,
                     type->size_max,
                     fifo.truth().value_or(false) ? ".fifo" : "");
  }
  open_.erase("name " + id);
  names_[id] = name;
  return name;
}

Result<Node> Resolver::get_attribute(const Node& argument) {
  if (argument.is_text()) {
    const std::size_t dot = argument.scalar().find('.');
    if (dot == std::string::npos)
      return unusable("Fn::GetAtt requires a resource and an attribute");
    return attribute(argument.scalar().substr(0, dot),
                     std::string_view(argument.scalar()).substr(dot + 1));
  }
  if (argument.items().size() != 2) {
    return unusable("Fn::GetAtt requires a resource and an attribute");
  }
  return attribute(argument.items()[0].scalar(), TRY(text(argument.items()[1])));
}

// Unsupported resources (roles, topics) still have the ARN they would have on AWS.
Result<Node> Resolver::attribute(const std::string& id, std::string_view name) {
  if (!root_["Resources"].has(id)) {
    // SAM creates a role for each function without one.
    const std::string owner = id.ends_with("Role") ? id.substr(0, id.size() - 4) : std::string();
    if (type_of(owner) == "AWS::Serverless::Function") {
      return Node::text(
          fmt::format("arn:aws:iam::{}:role/{}-{}", around_.account, around_.stack_name, id));
    }
    return unusable(fmt::format("there is no resource {}", id));
  }
  const std::string physical = TRY(name_of(id));
  const std::string& type = type_of(id);
  if (type == "AWS::SQS::Queue") {
    if (name == "Arn") return Node::text(around_.queue_arn(physical));
    if (name == "QueueName") return Node::text(physical);
    if (name == "QueueUrl") return Node::text(around_.queue_url(physical));
  }
  if (type.ends_with("::Function") && name == "Arn") {
    return Node::text(around_.function_arn(physical));
  }
  if (type == "AWS::S3::Bucket" && name == "Arn") return Node::text("arn:aws:s3:::" + physical);
  if (type == "AWS::S3::Bucket") return Node::text(physical + ".s3.localhost");
  if (type == "AWS::CloudWatch::Alarm") {
    return Node::text(around_.arn("cloudwatch", "alarm:" + physical));
  }
  if (type == "AWS::IAM::Role") {
    return Node::text(fmt::format("arn:aws:iam::{}:role/{}", around_.account, physical));
  }
  if (type == "AWS::SNS::Topic") return Node::text(around_.arn("sns", physical));
  return Node::text(fmt::format("{}.{}", physical, name));
}

Result<Node> Resolver::sub(const Node& argument) {
  const Node& pattern =
      argument.is_list() && !argument.items().empty() ? argument.items()[0] : argument;
  const Node own = argument.items().size() > 1 ? TRY(value(argument.items()[1])) : Node();
  const std::string& source = pattern.scalar();
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = source.find("${", at);
    const std::size_t close = open == source.npos ? open : source.find('}', open);
    if (close == source.npos) return Node::text(out + source.substr(at));
    out.append(source, at, open - at);
    const std::string name = source.substr(open + 2, close - open - 2);
    at = close + 1;
    if (name.starts_with('!')) {
      out.append("${").append(name, 1).append("}");
    } else if (own.has(name)) {
      out += own[name].scalar();
    } else if (const std::size_t dot = name.find('.'); dot != name.npos) {
      out += TRY(attribute(name.substr(0, dot), std::string_view(name).substr(dot + 1))).scalar();
    } else {
      out += TRY(ref(name)).scalar();
    }
  }
}

Result<Node> Resolver::join(const Node& argument) {
  if (argument.items().size() != 2) return unusable("Fn::Join requires a delimiter and a list");
  const std::string delimiter = TRY(text(argument.items()[0]));
  const Node parts = TRY(value(argument.items()[1]));
  std::string out;
  for (const Node& part : parts.items()) {
    if (&part != parts.items().data()) out += delimiter;
    out += part.is_scalar() ? part.scalar() : part.json();
  }
  return Node::text(std::move(out));
}

Result<Node> Resolver::select(const Node& argument) {
  if (argument.items().size() != 2) return unusable("Fn::Select requires an index and a list");
  const auto index = TRY(value(argument.items()[0])).integer();
  const Node from = TRY(value(argument.items()[1]));
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= from.items().size()) {
    return unusable("the index of Fn::Select is out of range");
  }
  return from.items()[static_cast<std::size_t>(*index)];
}

Result<Node> Resolver::split_text(const Node& argument) {
  if (argument.items().size() != 2) return unusable("Fn::Split requires a delimiter and a string");
  const std::string delimiter = TRY(text(argument.items()[0]));
  const std::string source = TRY(text(argument.items()[1]));
  if (delimiter.empty()) return unusable("Fn::Split requires a delimiter");
  Node out = Node::list();
  for (std::size_t at = 0; at <= source.size();) {
    const std::size_t end = std::min(source.find(delimiter, at), source.size());
    out.items().push_back(Node::text(source.substr(at, end - at)));
    at = end + delimiter.size();
  }
  return out;
}

Result<Node> Resolver::find_in_map(const Node& argument) {
  if (argument.items().size() < 3) return unusable("Fn::FindInMap requires a map and two keys");
  const std::string name = TRY(text(argument.items()[0]));
  const std::string first = TRY(text(argument.items()[1]));
  const std::string second = TRY(text(argument.items()[2]));
  const Node* const found = root_["Mappings"][name][first].find(second);
  if (found == nullptr) {
    return unusable(fmt::format("the mapping {} has nothing at {}.{}", name, first, second));
  }
  return *found;
}

Resolver::Resolved Resolver::choose(const Node& argument) {
  if (argument.items().size() != 3) return unusable("Fn::If requires a condition and two values");
  const bool yes = TRY(holds(argument.items()[0].scalar()));
  return resolve(argument.items()[yes ? 1 : 2]);
}

Result<bool> Resolver::holds(const std::string& condition) {
  if (const auto found = conditions_.find(condition); found != conditions_.end()) {
    return found->second;
  }
  const Node* const declared = root_["Conditions"].find(condition);
  if (declared == nullptr) return unusable(fmt::format("there is no condition {}", condition));
  if (!open_.insert("condition " + condition).second) {
    return unusable(fmt::format("the condition {} depends on itself", condition));
  }
  const bool result = TRY(test(*declared));
  open_.erase("condition " + condition);
  conditions_[condition] = result;
  return result;
}

Result<bool> Resolver::test(const Node& condition) {
  if (condition.members().size() != 1) return unusable("a condition must be one function");
  return test_function(condition.members()[0].first, condition.members()[0].second);
}

Result<bool> Resolver::test_function(const std::string& name, const Node& argument) {
  if (name == "Condition") return holds(argument.scalar());
  if (name == "Fn::Equals" && argument.items().size() == 2) {
    return TRY(value(argument.items()[0])).means(TRY(value(argument.items()[1])));
  }
  if (name == "Fn::Not" && argument.items().size() == 1) {
    return !TRY(test(argument.items()[0]));
  }
  if (name != "Fn::And" && name != "Fn::Or") {
    return unusable(fmt::format("{} cannot be used in a condition", name));
  }
  const bool any = name == "Fn::Or";
  for (const Node& part : argument.items()) {
    if (TRY(test(part)) == any) return any;
  }
  return !any;
}

}  // namespace redrive::stack
