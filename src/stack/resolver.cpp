#include "stack/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/pattern.h"
#include "base/text.h"

namespace redrive::stack {
namespace {

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

}  // namespace

Resolver::Resolver(const Node& root, const Surroundings& around)
    : root_(root),
      around_(around),
      functions_(root, {.ref = [this](const std::string& name) { return ref(name); },
                        .attribute = [this](const std::string& id,
                                            std::string_view name) { return attribute(id, name); },
                        .region = around.region}) {}

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
    if (!own->is_map() || !common.is_map() || is_function(*own)) continue;
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
  std::string name = TRY(functions_.text(properties[type->property]));
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

}  // namespace redrive::stack
