#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "stack/functions.h"
#include "stack/transforms.h"

namespace redrive::stack {
namespace {

constexpr std::string_view kFunctionType = "AWS::Serverless::Function";

// Properties that AWS::Lambda::Function has under the same name.
constexpr std::array<std::string_view, 18> kSameProperties = {"FunctionName",
                                                              "Handler",
                                                              "Runtime",
                                                              "Description",
                                                              "MemorySize",
                                                              "Timeout",
                                                              "Environment",
                                                              "VpcConfig",
                                                              "Layers",
                                                              "KmsKeyArn",
                                                              "ReservedConcurrentExecutions",
                                                              "EphemeralStorage",
                                                              "Architectures",
                                                              "LoggingConfig",
                                                              "SnapStart",
                                                              "RuntimeManagementConfig",
                                                              "FileSystemConfigs",
                                                              "CodeSigningConfigArn"};
// Those that become something else.
constexpr std::array<std::string_view, 14> kOwnProperties = {"CodeUri",
                                                             "InlineCode",
                                                             "PackageType",
                                                             "ImageUri",
                                                             "Role",
                                                             "Policies",
                                                             "Tags",
                                                             "Tracing",
                                                             "DeadLetterQueue",
                                                             "Events",
                                                             "EventInvokeConfig",
                                                             "AutoPublishAlias",
                                                             "VersionDescription",
                                                             "PermissionsBoundary"};
constexpr std::array<std::string_view, 6> kResourceAttributes = {
    "DependsOn", "Condition", "Metadata", "DeletionPolicy", "UpdateReplacePolicy", "UpdatePolicy"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Node text_node(std::string text) {
  return Node::text(std::move(text));
}

Node ref_to(const std::string& id) {
  return Node::map({{"Ref", text_node(id)}});
}

Node attribute_of(const std::string& id, std::string attribute) {
  return Node::map({{"Fn::GetAtt", Node::list({text_node(id), text_node(std::move(attribute))})}});
}

// Policy templates of SAM: the actions, and the ARN of the resource that the parameter names.
struct PolicyTemplate {
  std::string_view name;
  std::string_view parameter;
  std::string_view resource;  // For Fn::Sub; ${name} is the parameter's value.
  std::string_view actions;   // Separated by blanks.
};
constexpr std::array kPolicyTemplates = {
    PolicyTemplate{"SQSPollerPolicy",
                   "QueueName",
                   "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${name}",
                   "sqs:ChangeMessageVisibility sqs:ChangeMessageVisibilityBatch sqs:DeleteMessage "
                   "sqs:DeleteMessageBatch sqs:GetQueueAttributes sqs:ReceiveMessage"},
    PolicyTemplate{"SQSSendMessagePolicy",
                   "QueueName",
                   "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${name}",
                   "sqs:SendMessage*"},
    PolicyTemplate{
        "LambdaInvokePolicy",
        "FunctionName",
        "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${name}*",
        "lambda:InvokeFunction"},
    PolicyTemplate{"S3ReadPolicy",
                   "BucketName",
                   "arn:${AWS::Partition}:s3:::${name}*",
                   "s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion"},
    PolicyTemplate{"S3WritePolicy",
                   "BucketName",
                   "arn:${AWS::Partition}:s3:::${name}*",
                   "s3:PutObject s3:PutObjectAcl"},
    PolicyTemplate{"S3CrudPolicy",
                   "BucketName",
                   "arn:${AWS::Partition}:s3:::${name}*",
                   "s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion "
                   "s3:PutObject s3:PutObjectAcl s3:DeleteObject"},
    PolicyTemplate{"SSMParameterReadPolicy",
                   "ParameterName",
                   "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/${name}",
                   "ssm:GetParameter ssm:GetParameters ssm:GetParametersByPath"},
};

Node words_of(std::string_view text) {
  Node list = Node::list();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    list.items().push_back(text_node(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

// One function of a template and everything that it becomes.
class SamFunction {
 public:
  SamFunction(const std::string& id, const Node& resource, Node properties)
      : id_(id), resource_(resource), properties_(std::move(properties)) {}

  // The resources, by their ids.
  Result<Node> expand() {
    for (const auto& [name, value] : properties_.members()) {
      if (is_among(kSameProperties, name) || is_among(kOwnProperties, name)) continue;
      return invalid(
          fmt::format("property {} not defined for resource of type {}", name, kFunctionType));
    }
    Node function = Node::map({{"Type", text_node("AWS::Lambda::Function")}});
    function.set("Properties", TRY(function_properties()));
    keep_attributes(function);
    out_.set(id_, std::move(function));
    if (!properties_.has("Role")) RETURN_IF_ERROR(add_role());
    if (properties_.has("AutoPublishAlias")) add_alias();
    for (const auto& [name, event] : properties_["Events"].members()) {
      RETURN_IF_ERROR(add_event(name, event));
    }
    if (properties_.has("EventInvokeConfig")) add_invoke_config();
    return std::move(out_);
  }

 private:
  std::unexpected<Error> invalid(std::string_view message) const {
    return fail(ErrorCode::usage,
                fmt::format("Transform {} failed with: Invalid Serverless Application "
                            "Specification document. Number of errors found: 1. Resource with id "
                            "[{}] is invalid. {}",
                            kSamTransform,
                            id_,
                            message));
  }

  void keep_attributes(Node& made) const {
    for (const std::string_view name : kResourceAttributes) {
      if (resource_.has(name)) made.set(name, resource_[name]);
    }
  }

  // What belongs to the function exists under the same condition.
  void add(const std::string& id, std::string type, Node properties) {
    Node made = Node::map({{"Type", text_node(std::move(type))}});
    made.set("Properties", std::move(properties));
    if (resource_.has("Condition")) made.set("Condition", resource_["Condition"]);
    out_.set(id, std::move(made));
  }

  Result<Node> function_properties() const {
    Node made = Node::map();
    for (const std::string_view name : kSameProperties) {
      if (properties_.has(name)) made.set(name, properties_[name]);
    }
    made.set("Code", TRY(code()));
    made.set("Role",
             properties_.has("Role") ? properties_["Role"] : attribute_of(id_ + "Role", "Arn"));
    if (properties_.has("PackageType")) made.set("PackageType", properties_["PackageType"]);
    if (properties_.has("Tracing")) {
      made.set("TracingConfig", Node::map({{"Mode", properties_["Tracing"]}}));
    }
    if (properties_.has("DeadLetterQueue")) {
      made.set("DeadLetterConfig",
               Node::map({{"TargetArn", properties_["DeadLetterQueue"]["TargetArn"]}}));
    }
    made.set("Tags", tags());
    return made;
  }

  Node tags() const {
    Node list = Node::list();
    const auto add_tag = [&](const std::string& key, Node value) {
      list.items().push_back(Node::map({{"Key", text_node(key)}, {"Value", std::move(value)}}));
    };
    add_tag("lambda:createdBy", text_node("SAM"));
    for (const auto& [key, value] : properties_["Tags"].members()) add_tag(key, value);
    return list;
  }

  Result<Node> code() const {
    if (properties_.has("InlineCode")) {
      return Node::map({{"ZipFile", properties_["InlineCode"]}});
    }
    if (properties_.has("ImageUri")) return Node::map({{"ImageUri", properties_["ImageUri"]}});
    const Node& place = properties_["CodeUri"];
    if (place.is_map()) {
      Node code = Node::map({{"S3Bucket", place["Bucket"]}, {"S3Key", place["Key"]}});
      if (place.has("Version")) code.set("S3ObjectVersion", place["Version"]);
      return code;
    }
    constexpr std::string_view kScheme = "s3://";
    const std::string& uri = place.scalar();
    const std::size_t slash = uri.find('/', kScheme.size());
    if (!uri.starts_with(kScheme) || slash == uri.npos) {
      return invalid(
          "'CodeUri' is not a valid S3 Uri of the form 's3://bucket/key' with optional versionId "
          "query parameter.");
    }
    return Node::map({{"S3Bucket", text_node(uri.substr(kScheme.size(), slash - kScheme.size()))},
                      {"S3Key", text_node(uri.substr(slash + 1))}});
  }

  bool has_queue_event() const {
    return std::ranges::any_of(properties_["Events"].members(), [](const Node::Member& event) {
      return event.second["Type"].scalar() == "SQS";
    });
  }

  Result<void> add_role() {
    const auto managed = [](std::string_view name) {
      return Node::map(
          {{"Fn::Sub",
            text_node(fmt::format("arn:${{AWS::Partition}}:iam::aws:policy/{}", name))}});
    };
    Node attached = Node::list({managed("service-role/AWSLambdaBasicExecutionRole")});
    if (has_queue_event()) {
      attached.items().push_back(managed("service-role/AWSLambdaSQSQueueExecutionRole"));
    }
    Node policies = Node::list();
    const Node& given = properties_["Policies"];
    std::vector<Node> all = given.is_list() ? given.items() : std::vector<Node>();
    if (!given.is_list() && !given.is_null()) all.push_back(given);
    for (const Node& policy : all) {
      RETURN_IF_ERROR(add_policy(policy, attached, policies));
    }
    const Node trust = *read_json(
        R"({"Version":"2012-10-17","Statement":[{"Action":["sts:AssumeRole"],"Effect":"Allow","Principal":{"Service":["lambda.amazonaws.com"]}}]})");
    Node role = Node::map({{"AssumeRolePolicyDocument", trust}});
    role.set("ManagedPolicyArns", std::move(attached));
    if (!policies.items().empty()) role.set("Policies", std::move(policies));
    if (properties_.has("PermissionsBoundary")) {
      role.set("PermissionsBoundary", properties_["PermissionsBoundary"]);
    }
    role.set("Tags", tags());
    add(id_ + "Role", "AWS::IAM::Role", std::move(role));
    return {};
  }

  Result<void> add_policy(const Node& policy, Node& attached, Node& policies) const {
    const auto add_document = [&](Node document) {
      const std::string name = fmt::format("{}RolePolicy{}", id_, policies.items().size());
      policies.items().push_back(
          Node::map({{"PolicyName", text_node(name)}, {"PolicyDocument", std::move(document)}}));
    };
    if (policy.is_text()) {
      const bool whole = policy.scalar().starts_with("arn:");
      attached.items().push_back(
          whole ? policy
                : Node::map({{"Fn::Sub",
                              text_node(fmt::format("arn:${{AWS::Partition}}:iam::aws:policy/{}",
                                                    policy.scalar()))}}));
      return {};
    }
    if (policy.has("Statement")) {
      add_document(policy);
      return {};
    }
    if (is_function(policy)) {
      attached.items().push_back(policy);
      return {};
    }
    const std::string name = policy.members().empty() ? "" : policy.members()[0].first;
    const auto row = std::ranges::find(kPolicyTemplates, name, &PolicyTemplate::name);
    if (row == kPolicyTemplates.end()) {
      return invalid(fmt::format("The policy template '{}' is not supported by this server", name));
    }
    const Node own = Node::map({{"name", policy[name][row->parameter]}});
    Node statement = Node::map({{"Effect", text_node("Allow")}});
    statement.set("Action", words_of(row->actions));
    statement.set(
        "Resource",
        Node::map({{"Fn::Sub", Node::list({text_node(std::string(row->resource)), own})}}));
    add_document(Node::map({{"Statement", Node::list({std::move(statement)})}}));
    return {};
  }

  // A new version whenever the code is another one.
  void add_alias() {
    const std::string& alias = properties_["AutoPublishAlias"].scalar();
    const std::string code = out_[id_]["Properties"]["Code"].json(Node::Order::sorted);
    const std::string version = id_ + "Version" + sha256_hex(code).substr(0, 10);
    Node properties = Node::map({{"FunctionName", ref_to(id_)}});
    if (properties_.has("VersionDescription")) {
      properties.set("Description", properties_["VersionDescription"]);
    }
    add(version, "AWS::Lambda::Version", std::move(properties));
    out_.find(version)->set("DeletionPolicy", text_node("Retain"));
    alias_ = id_ + "Alias" + alias;
    add(alias_,
        "AWS::Lambda::Alias",
        Node::map({{"Name", text_node(alias)},
                   {"FunctionName", ref_to(id_)},
                   {"FunctionVersion", attribute_of(version, "Version")}}));
  }

  Node target() const { return ref_to(alias_.empty() ? id_ : alias_); }

  Result<void> add_event(const std::string& name, const Node& event) {
    const std::string& type = event["Type"].scalar();
    if (type != "SQS") {
      return invalid(fmt::format(
          "Event with id [{}] is invalid. Events of type {} are not supported by this server.",
          name,
          type));
    }
    Node properties = event["Properties"];
    if (!properties.has("Queue")) {
      return invalid(
          fmt::format("Event with id [{}] is invalid. Missing required property 'Queue'.", name));
    }
    properties.set("EventSourceArn", properties["Queue"]);
    properties.remove("Queue");
    properties.set("FunctionName", target());
    add(id_ + name, "AWS::Lambda::EventSourceMapping", std::move(properties));
    return {};
  }

  void add_invoke_config() {
    Node properties = properties_["EventInvokeConfig"];
    // SAM has a Type next to Destination, CloudFormation does not.
    if (Node* const destinations = properties.find("DestinationConfig")) {
      for (auto& [when, where] : destinations->members()) where.remove("Type");
    }
    properties.set("FunctionName", ref_to(id_));
    properties.set("Qualifier",
                   alias_.empty() ? text_node("$LATEST") : properties_["AutoPublishAlias"]);
    add(id_ + "EventInvokeConfig", "AWS::Lambda::EventInvokeConfig", std::move(properties));
  }

  const std::string& id_;
  const Node& resource_;
  const Node properties_;
  Node out_ = Node::map();
  std::string alias_;  // The id of the alias; empty: none.
};

// Maps are merged, lists are joined, other values are those of the resource.
Node merged(const Node& common, const Node& own) {
  if (own.is_null()) return common;
  if (is_function(own) || is_function(common)) return own;
  if (common.is_list() && own.is_list()) {
    Node list = common;
    list.items().insert(list.items().end(), own.items().begin(), own.items().end());
    return list;
  }
  if (!common.is_map() || !own.is_map()) return own;
  Node map = common;
  for (const auto& [name, value] : own.members()) map.set(name, merged(common[name], value));
  return map;
}

}  // namespace

Result<Node> expand_sam(Node root) {
  const Node globals = root["Globals"]["Function"];
  Node resources = Node::map();
  for (const auto& [id, resource] : root["Resources"].members()) {
    const std::string& type = resource["Type"].scalar();
    if (type != kFunctionType) {
      if (type.starts_with("AWS::Serverless::")) {
        return fail(ErrorCode::usage,
                    fmt::format("Transform {} failed with: Resource with id [{}] is invalid. {} is "
                                "not supported by this server.",
                                kSamTransform,
                                id,
                                type));
      }
      resources.set(id, resource);
      continue;
    }
    const Node properties = merged(globals, resource["Properties"]);
    const Node made =
        TRY(SamFunction(id, resource, properties.is_null() ? Node::map() : properties).expand());
    for (const auto& [name, one] : made.members()) resources.set(name, one);
  }
  root.set("Resources", std::move(resources));
  root.remove("Globals");
  return root;
}

}  // namespace redrive::stack
