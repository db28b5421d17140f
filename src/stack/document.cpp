#include "stack/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"

namespace redrive::stack {
namespace {

constexpr std::array<std::string_view, 12> kSections = {"AWSTemplateFormatVersion",
                                                        "Description",
                                                        "Metadata",
                                                        "Parameters",
                                                        "Mappings",
                                                        "Conditions",
                                                        "Transform",
                                                        "Resources",
                                                        "Outputs",
                                                        "Rules",
                                                        "Globals",
                                                        "Hooks"};
constexpr std::array<std::string_view, 9> kResourceMembers = {"Type",
                                                              "Properties",
                                                              "DependsOn",
                                                              "Condition",
                                                              "DeletionPolicy",
                                                              "UpdateReplacePolicy",
                                                              "Metadata",
                                                              "CreationPolicy",
                                                              "UpdatePolicy"};
constexpr std::array<std::string_view, 14> kParameterMembers = {"Type",
                                                                "Default",
                                                                "NoEcho",
                                                                "AllowedValues",
                                                                "AllowedPattern",
                                                                "MaxLength",
                                                                "MinLength",
                                                                "MaxValue",
                                                                "MinValue",
                                                                "Description",
                                                                "ConstraintDescription",
                                                                "Label",
                                                                "Export",
                                                                "Value"};
// IAM resources, and the property that names them: CAPABILITY_NAMED_IAM.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kIamTypes = {
    std::pair("AWS::IAM::Role", "RoleName"),
    std::pair("AWS::IAM::Policy", ""),
    std::pair("AWS::IAM::ManagedPolicy", "ManagedPolicyName"),
    std::pair("AWS::IAM::User", "UserName"),
    std::pair("AWS::IAM::Group", "GroupName"),
    std::pair("AWS::IAM::AccessKey", ""),
    std::pair("AWS::IAM::InstanceProfile", "InstanceProfileName")};

std::unexpected<Error> malformed(std::string_view message) {
  return fail(ErrorCode::usage, fmt::format("Template format error: {}", message));
}

bool is_known(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_alphanumeric(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

bool is_pseudo(std::string_view name) {
  return name.starts_with("AWS::");
}

Result<Removal> read_removal(const Node& node, std::string_view attribute) {
  const std::string& text = node.scalar();
  if (node.is_null() || text == "Delete") return Removal::remove;
  // Nothing here can be snapshot, so a resource that asks for it is kept.
  if (text == "Retain" || text == "Snapshot") return Removal::retain;
  if (text == "RetainExceptOnCreate" && attribute == "DeletionPolicy") {
    return Removal::retain_except_on_create;
  }
  return malformed(fmt::format("Unrecognized {} {}", attribute, text));
}

Result<TemplateResource> read_resource(const std::string& id, const Node& node) {
  if (!is_alphanumeric(id))
    return malformed(fmt::format("Resource name {} is non alphanumeric.", id));
  if (!node.is_map()) {
    return malformed(fmt::format("[/Resources/{}] resource definition is malformed", id));
  }
  for (const auto& [name, value] : node.members()) {
    if (is_known(kResourceMembers, name)) continue;
    return fail(ErrorCode::usage, fmt::format("Invalid template resource property '{}'", name));
  }
  if (!node["Type"].is_text() || node["Type"].scalar().empty()) {
    return malformed(
        fmt::format("[/Resources/{}] Every Resources object must contain a Type member.", id));
  }
  if (!node["Properties"].is_map() && !node["Properties"].is_null()) {
    return malformed(
        fmt::format("[/Resources/{}/Properties] 'null' values or lists are not "
                    "allowed in templates",
                    id));
  }
  TemplateResource resource{.id = id,
                            .type = node["Type"].scalar(),
                            .properties = node["Properties"],
                            .depends_on = {},
                            .condition = node["Condition"].scalar()};
  if (resource.properties.is_null()) resource.properties = Node::map();
  const Node& needs = node["DependsOn"];
  if (needs.is_text()) resource.depends_on.push_back(needs.scalar());
  for (const Node& one : needs.items()) resource.depends_on.push_back(one.scalar());
  resource.deletion = TRY(read_removal(node["DeletionPolicy"], "DeletionPolicy"));
  resource.replacement = TRY(read_removal(node["UpdateReplacePolicy"], "UpdateReplacePolicy"));
  return resource;
}

Result<TemplateParameter> read_parameter(const std::string& name, const Node& node) {
  if (!is_alphanumeric(name)) {
    return malformed(fmt::format("Parameter name {} is non alphanumeric.", name));
  }
  if (!node["Type"].is_text()) {
    return malformed(fmt::format("Every Parameters object must contain a Type member."));
  }
  for (const auto& [member, value] : node.members()) {
    if (is_known(kParameterMembers, member)) continue;
    return fail(ErrorCode::usage, fmt::format("Invalid template parameter property '{}'", member));
  }
  const std::string& type = node["Type"].scalar();
  const bool known = type == "String" || type == "Number" || type == "CommaDelimitedList" ||
                     type.starts_with("List<") || type.starts_with("AWS::");
  if (!known) return malformed(fmt::format("Unrecognized parameter type: {}", type));
  return TemplateParameter{.name = name,
                           .type = type,
                           .default_value = node["Default"].scalar(),
                           .has_default = node.has("Default"),
                           .no_echo = node["NoEcho"].truth().value_or(false),
                           .description = node["Description"].scalar(),
                           .declared = node};
}

// Calls `visit` with each name that a value refers to.
class ReferenceWalk {
 public:
  ReferenceWalk(std::set<std::string>& found, const Holds& holds) : found_(found), holds_(holds) {}

  Result<void> walk(const Node& value) {
    if (is_function(value)) {
      return function(value.members()[0].first, value.members()[0].second);
    }
    for (const Node& item : value.items()) RETURN_IF_ERROR(walk(item));
    for (const auto& [name, item] : value.members()) RETURN_IF_ERROR(walk(item));
    return {};
  }

 private:
  Result<void> function(const std::string& name, const Node& argument) {
    if (name == "Ref") {
      found_.insert(argument.scalar());
      return {};
    }
    if (name == "Fn::GetAtt") return attribute(argument);
    if (name == "Fn::Sub") return sub(argument);
    if (name == "Fn::If" && holds_ && argument.items().size() == 3) {
      const bool yes = TRY(holds_(argument.items()[0].scalar()));
      return walk(argument.items()[yes ? 1 : 2]);
    }
    return walk(argument);
  }

  Result<void> attribute(const Node& argument) {
    if (argument.is_text()) {
      found_.insert(argument.scalar().substr(0, argument.scalar().find('.')));
      return {};
    }
    if (!argument.items().empty()) found_.insert(argument.items()[0].scalar());
    for (std::size_t i = 1; i < argument.items().size(); ++i) {
      RETURN_IF_ERROR(walk(argument.items()[i]));
    }
    return {};
  }

  Result<void> sub(const Node& argument) {
    const bool pair = argument.is_list() && argument.items().size() == 2;
    const std::string& source = (pair ? argument.items()[0] : argument).scalar();
    const Node own = pair ? argument.items()[1] : Node();
    RETURN_IF_ERROR(walk(own));
    for (std::size_t at = source.find("${"); at != source.npos; at = source.find("${", at + 2)) {
      const std::size_t close = source.find('}', at);
      if (close == source.npos) break;
      const std::string name = source.substr(at + 2, close - at - 2);
      if (name.starts_with('!') || own.has(name)) continue;
      found_.insert(is_pseudo(name) ? name : name.substr(0, name.find('.')));
    }
    return {};
  }

  std::set<std::string>& found_;
  const Holds& holds_;
};

// Depth first, in the order of the template.
class DependencyOrder {
 public:
  explicit DependencyOrder(std::map<std::string, std::vector<std::string>>& needs)
      : needs_(needs) {}

  Result<void> visit(const std::string& id) {
    if (done_.contains(id)) return {};
    if (std::ranges::find(path_, id) != path_.end()) return circle(id);
    path_.push_back(id);
    for (const std::string& other : needs_[id]) RETURN_IF_ERROR(visit(other));
    path_.pop_back();
    done_.insert(id);
    order_.push_back(id);
    return {};
  }

  const std::vector<std::string>& order() const { return order_; }

 private:
  std::unexpected<Error> circle(const std::string& id) const {
    std::vector<std::string> members(std::ranges::find(path_, id), path_.end());
    std::ranges::sort(members);
    return fail(
        ErrorCode::usage,
        fmt::format("Circular dependency between resources: [{}]", fmt::join(members, ", ")));
  }

  std::map<std::string, std::vector<std::string>>& needs_;
  std::vector<std::string> path_;
  std::set<std::string> done_;
  std::vector<std::string> order_;
};

}  // namespace

bool TemplateParameter::is_list() const {
  const std::string_view inner = ssm_type();
  const std::string_view effective = inner.empty() ? std::string_view(type) : inner;
  return effective == "CommaDelimitedList" || effective.starts_with("List<");
}

std::string_view TemplateParameter::ssm_type() const {
  constexpr std::string_view kPrefix = "AWS::SSM::Parameter::Value<";
  if (!type.starts_with(kPrefix) || !type.ends_with('>')) return {};
  return std::string_view(type).substr(kPrefix.size(), type.size() - kPrefix.size() - 1);
}

Result<Node> parse_template_text(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != text.npos && text[begin] == '{';
  auto root = json ? read_json(text) : read_yaml(text);
  // JSON is also YAML's flow style, which may have comments and short forms.
  if (!root && json) {
    if (auto flow = read_yaml(text)) root = std::move(flow);
  }
  if (!root) {
    return malformed(
        fmt::format("{} not well-formed. ({})", json ? "JSON" : "YAML", root.error().message));
  }
  if (!root->is_map()) return malformed("unsupported structure.");
  return *std::move(root);
}

Result<Document> Document::parse(std::string_view text) {
  return read(TRY(parse_template_text(text)));
}

Result<Document> Document::read(Node root) {
  Document document;
  document.root_ = std::move(root);
  std::vector<std::string> unknown;
  for (const auto& [name, value] : document.root_.members()) {
    if (!is_known(kSections, name)) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    return fail(
        ErrorCode::usage,
        fmt::format("Invalid template property or properties [{}]", fmt::join(unknown, ", ")));
  }
  const Node& version = document.root_["AWSTemplateFormatVersion"];
  if (!version.is_null() && version.scalar() != "2010-09-09") {
    return malformed(fmt::format("Unrecognized template format version: {}", version.scalar()));
  }
  RETURN_IF_ERROR(document.read_parameters());
  RETURN_IF_ERROR(document.read_resources());
  RETURN_IF_ERROR(document.read_outputs());
  RETURN_IF_ERROR(document.check_references());
  return document;
}

Result<void> Document::read_parameters() {
  for (const auto& [name, node] : root_["Parameters"].members()) {
    parameters_.push_back(TRY(read_parameter(name, node)));
  }
  if (parameters_.size() <= kParametersMax) return {};
  return malformed(fmt::format("Number of parameters, {}, is greater than maximum allowed, {}",
                               parameters_.size(),
                               kParametersMax));
}

Result<void> Document::read_resources() {
  if (root_["Resources"].members().empty()) {
    return malformed("At least one Resources member must be defined.");
  }
  for (const auto& [id, node] : root_["Resources"].members()) {
    resources_.push_back(TRY(read_resource(id, node)));
  }
  if (resources_.size() <= kResourcesMax) return {};
  return malformed(fmt::format("Number of resources, {}, is greater than maximum allowed, {}",
                               resources_.size(),
                               kResourcesMax));
}

Result<void> Document::read_outputs() {
  for (const auto& [name, node] : root_["Outputs"].members()) {
    if (!is_alphanumeric(name)) {
      return malformed(fmt::format("Output name {} is non alphanumeric.", name));
    }
    if (!node.is_map() || node["Value"].is_null()) {
      return malformed(fmt::format(
          "Output {} is malformed. The Value field of every Outputs member must be specified",
          name));
    }
    outputs_.push_back({.name = name,
                        .value = node["Value"],
                        .description = node["Description"].scalar(),
                        .condition = node["Condition"].scalar(),
                        .export_name = node["Export"]["Name"]});
  }
  if (outputs_.size() <= kOutputsMax) return {};
  return malformed(fmt::format(
      "Number of outputs, {}, is greater than maximum allowed, {}", outputs_.size(), kOutputsMax));
}

Result<void> Document::check_references() const {
  const auto declared = [&](const std::string& name) {
    return is_pseudo(name) || root_["Parameters"].has(name);
  };
  const auto unresolved = [&](const std::set<std::string>& names,
                              bool resources,
                              std::string_view block) -> Result<void> {
    std::vector<std::string> unknown;
    for (const std::string& name : names) {
      if (declared(name) || (resources && find(name) != nullptr)) continue;
      unknown.push_back(name);
    }
    if (unknown.empty()) return {};
    return malformed(fmt::format("Unresolved {}dependencies [{}]{} in the {} block of the template",
                                 resources ? "resource " : "",
                                 fmt::join(unknown, ", "),
                                 resources ? "" : ". Cannot reference resources",
                                 block));
  };
  std::set<std::string> in_resources;
  for (const TemplateResource& resource : resources_) {
    in_resources.merge(TRY(references_in(resource.properties)));
    in_resources.insert(resource.depends_on.begin(), resource.depends_on.end());
    if (!resource.condition.empty() && !root_["Conditions"].has(resource.condition)) {
      return malformed(
          fmt::format("Unresolved condition dependency {} in the Resources block of "
                      "the template",
                      resource.condition));
    }
  }
  RETURN_IF_ERROR(unresolved(in_resources, true, "Resources"));
  RETURN_IF_ERROR(unresolved(TRY(references_in(root_["Conditions"])), false, "Conditions"));
  return unresolved(TRY(references_in(root_["Outputs"])), true, "Outputs");
}

const TemplateResource* Document::find(std::string_view id) const {
  const auto found = std::ranges::find(resources_, id, &TemplateResource::id);
  return found == resources_.end() ? nullptr : &*found;
}

std::set<std::string> Document::capabilities() const {
  std::set<std::string> needed;
  for (const TemplateResource& resource : resources_) {
    for (const auto& [type, name] : kIamTypes) {
      if (resource.type != type) continue;
      const bool named = !name.empty() && resource.properties.has(name);
      needed.insert(named ? "CAPABILITY_NAMED_IAM" : "CAPABILITY_IAM");
    }
  }
  if (needed.contains("CAPABILITY_NAMED_IAM")) needed.erase("CAPABILITY_IAM");
  return needed;
}

std::vector<std::string> Document::capability_types() const {
  std::set<std::string> types;
  for (const TemplateResource& resource : resources_) {
    if (resource.type.starts_with("AWS::IAM::")) types.insert(resource.type);
  }
  return {types.begin(), types.end()};
}

Result<std::set<std::string>> references_in(const Node& value, const Holds& holds) {
  std::set<std::string> found;
  RETURN_IF_ERROR(ReferenceWalk(found, holds).walk(value));
  return found;
}

Result<std::vector<Ordered>> in_dependency_order(const Document& document, Functions& functions) {
  const Holds holds = [&](const std::string& name) { return functions.holds(name); };
  std::map<std::string, std::vector<std::string>> needs;
  std::set<std::string> present;
  for (const TemplateResource& resource : document.resources()) {
    if (resource.condition.empty() || TRY(holds(resource.condition))) present.insert(resource.id);
  }
  std::set<std::string> absent;
  for (const TemplateResource& resource : document.resources()) {
    if (!present.contains(resource.id)) continue;
    for (const std::string& name : TRY(references_in(resource.properties, holds))) {
      if (present.contains(name)) needs[resource.id].push_back(name);
      if (!present.contains(name) && document.find(name) != nullptr) absent.insert(name);
    }
    // DependsOn of what is left out has no effect.
    for (const std::string& name : resource.depends_on) {
      if (present.contains(name)) needs[resource.id].push_back(name);
    }
  }
  if (!absent.empty()) {
    return malformed(
        fmt::format("Unresolved resource dependencies [{}] in the Resources block of "
                    "the template",
                    fmt::join(absent, ", ")));
  }
  DependencyOrder order(needs);
  for (const TemplateResource& resource : document.resources()) {
    if (present.contains(resource.id)) RETURN_IF_ERROR(order.visit(resource.id));
  }
  std::vector<Ordered> ordered;
  for (const std::string& id : order.order()) ordered.push_back({document.find(id), needs[id]});
  return ordered;
}

}  // namespace redrive::stack
