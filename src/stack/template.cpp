// Translates CloudFormation, SAM and CDK templates into resources.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "stack/resolver.h"
#include "stack/stack.h"

namespace redrive::stack {
namespace {

constexpr std::array<std::string_view, 12> kQueueAttributes = {"DelaySeconds",
                                                               "MaximumMessageSize",
                                                               "MessageRetentionPeriod",
                                                               "ReceiveMessageWaitTimeSeconds",
                                                               "VisibilityTimeout",
                                                               "FifoQueue",
                                                               "ContentBasedDeduplication",
                                                               "DeduplicationScope",
                                                               "FifoThroughputLimit",
                                                               "KmsMasterKeyId",
                                                               "KmsDataKeyReusePeriodSeconds",
                                                               "SqsManagedSseEnabled"};
constexpr std::array<std::string_view, 10> kFunctionMembers = {"Description",
                                                               "Runtime",
                                                               "Handler",
                                                               "Role",
                                                               "Timeout",
                                                               "MemorySize",
                                                               "Environment",
                                                               "DeadLetterConfig",
                                                               "LoggingConfig",
                                                               "ReservedConcurrentExecutions"};
constexpr std::array<std::string_view, 13> kMappingMembers = {"BatchSize",
                                                              "MaximumBatchingWindowInSeconds",
                                                              "Enabled",
                                                              "FunctionResponseTypes",
                                                              "FilterCriteria",
                                                              "ScalingConfig",
                                                              "ProvisionedPollerConfig",
                                                              "BisectBatchOnFunctionError",
                                                              "IsolateRetries",
                                                              "MaximumRetryAttempts",
                                                              "MaximumRecordAgeInSeconds",
                                                              "DestinationConfig",
                                                              "RetryPolicy"};
constexpr std::array<std::string_view, 17> kAlarmMembers = {"ActionsEnabled",
                                                            "AlarmActions",
                                                            "AlarmDescription",
                                                            "ComparisonOperator",
                                                            "DatapointsToAlarm",
                                                            "Dimensions",
                                                            "EvaluationPeriods",
                                                            "ExtendedStatistic",
                                                            "InsufficientDataActions",
                                                            "MetricName",
                                                            "Namespace",
                                                            "OKActions",
                                                            "Period",
                                                            "Statistic",
                                                            "Threshold",
                                                            "TreatMissingData",
                                                            "Unit"};
constexpr std::array<std::string_view, 3> kInvokeMembers = {
    "MaximumRetryAttempts", "MaximumEventAgeInSeconds", "DestinationConfig"};

// Types that can be ignored without effect here.
constexpr std::array<std::string_view, 6> kHarmlessTypes = {"AWS::CDK::Metadata",
                                                            "AWS::Lambda::Permission",
                                                            "AWS::Logs::LogGroup",
                                                            "AWS::CloudFormation::WaitHandle",
                                                            "AWS::Lambda::Url",
                                                            "Custom::LogRetention"};

// [{"Key": k, "Value": v}], or {k: v} in SAM.
Tags tags_of(const Node& tags) {
  Tags out;
  for (const Node& tag : tags.items()) out[tag["Key"].scalar()] = tag["Value"].scalar();
  for (const auto& [key, value] : tags.members()) out[key] = value.scalar();
  return out;
}

// The name in arn:…:function:name[:qualifier], or the name itself.
std::string function_name_of(std::string_view text) {
  constexpr std::string_view kMark = ":function:";
  const std::size_t mark = text.find(kMark);
  if (mark != text.npos) text.remove_prefix(mark + kMark.size());
  return std::string(text.substr(0, text.find(':')));
}

// A document inside an attribute, in the form returned by servers.
Node document_text(Node document) {
  if (document.is_text()) {
    auto parsed = read_json(document.scalar());
    if (!parsed) return document;
    document = *std::move(parsed);
  }
  if (const auto count = document["maxReceiveCount"].integer()) {
    document.set("maxReceiveCount", Node::number(*count));
  }
  return Node::text(document.json(Node::Order::sorted));
}

// Templates may write 10 or "10", and parameters are always texts.
Node as_api_has_it(std::string_view member, Node value) {
  if (member == "Environment") {
    if (Node* const variables = value.find("Variables")) {
      for (auto& [name, variable] : variables->members()) variable = Node::text(variable.scalar());
    }
    return value;
  }
  if (member == "ScalingConfig" && value.has("MaximumConcurrency")) {
    value.set("MaximumConcurrency", as_api_has_it("Maximum", value["MaximumConcurrency"]));
  }
  if (member == "FilterCriteria" || !value.is_text()) return value;
  const bool texts = member == "Description" || member == "AlarmDescription";
  if (texts) return value;
  if (const auto number = value.integer()) return Node::number(*number);
  if (const auto truth = value.truth()) return Node::flag(*truth);
  return value;
}

class TemplateReader {
 public:
  TemplateReader(const Node& root, const Node& assets, const Surroundings& around)
      : root_(root), assets_(assets), around_(around), resolver_(root, around) {}

  Result<Stack> read() {
    if (!root_["Resources"].is_map()) {
      return fail(ErrorCode::usage, "not a template: it has no Resources");
    }
    stack_.name = around_.stack_name;
    RETURN_IF_ERROR(resolver_.read_parameters());
    for (const auto& [id, resource] : root_["Resources"].members()) {
      if (resource.has("Condition") && !TRY(resolver_.holds(resource["Condition"].scalar()))) {
        continue;
      }
      const auto done = add(id, resource["Type"].scalar());
      if (!done) return fail(done.error().code, fmt::format("{}: {}", id, done.error().message));
    }
    give_policies();
    RETURN_IF_ERROR(put_in_order(stack_));
    return std::move(stack_);
  }

 private:
  struct QueuePolicy {
    std::string id;
    std::string queue_name;
    Node document;
  };

  Result<void> add(const std::string& id, const std::string& type) {
    if (type == "AWS::SQS::Queue") return add_queue(id);
    if (type == "AWS::SQS::QueuePolicy") return add_queue_policy(id);
    if (type == "AWS::Lambda::Function") return add_function(id);
    if (type == "AWS::Serverless::Function") return add_serverless_function(id);
    if (type == "AWS::Lambda::EventSourceMapping") return add_mapping(id);
    if (type == "AWS::Lambda::EventInvokeConfig") return add_invoke_config(id);
    if (type == "AWS::S3::Bucket") return add_bucket(id);
    if (type == "AWS::CloudWatch::Alarm") return add_alarm(id);
    if (type.starts_with("AWS::IAM::")) {
      note(id, type, "IAM resources are not applied");
    } else if (std::ranges::find(kHarmlessTypes, type) == kHarmlessTypes.end()) {
      note(id, type, "the resource type is not supported");
    }
    return {};
  }

  void note(const std::string& id, std::string_view what, std::string_view why) {
    stack_.notes.push_back(fmt::format("{} ({}) is omitted: {}", id, what, why));
  }

  Resource& begin(Kind kind, const std::string& id, std::string name) {
    return stack_.resources.emplace_back(Resource{.kind = kind, .id = id, .name = std::move(name)});
  }

  // Copies the members that are present.
  static void take(Node& out, const Node& from, std::span<const std::string_view> members) {
    for (const std::string_view member : members) {
      if (from.has(member)) out.set(member, as_api_has_it(member, from[member]));
    }
  }

  Result<Node> properties(const std::string& id) {
    return resolver_.value(resolver_.properties_of(id));
  }

  Result<void> add_bucket(const std::string& id) {
    const Node given = TRY(properties(id));
    begin(Kind::bucket, id, TRY(resolver_.name_of(id))).tags = tags_of(given["Tags"]);
    return {};
  }

  Result<void> add_queue(const std::string& id) {
    const Node given = TRY(properties(id));
    Resource& queue = begin(Kind::queue, id, TRY(resolver_.name_of(id)));
    for (const std::string_view name : kQueueAttributes) {
      const bool said = given.has(name) && !(name == "FifoQueue" && given[name].truth() == false);
      if (said) queue.properties.set(name, Node::text(given[name].scalar()));
    }
    for (const std::string_view name : {"RedrivePolicy", "RedriveAllowPolicy"}) {
      if (given.has(name)) queue.properties.set(name, document_text(given[name]));
    }
    queue.tags = tags_of(given["Tags"]);
    return {};
  }

  Result<void> add_queue_policy(const std::string& id) {
    const Node given = TRY(properties(id));
    for (const Node& url : given["Queues"].items()) {
      const std::string name = url.scalar().substr(url.scalar().rfind('/') + 1);
      policies_.push_back({id, name, document_text(given["PolicyDocument"])});
    }
    return {};
  }

  // A policy is an attribute of its queue, which may be anywhere in the template.
  void give_policies() {
    for (const QueuePolicy& policy : policies_) {
      const auto queue = std::ranges::find_if(stack_.resources, [&](const Resource& resource) {
        return resource.kind == Kind::queue && resource.name == policy.queue_name;
      });
      if (queue != stack_.resources.end()) {
        queue->properties.set("Policy", policy.document);
      } else {
        note(policy.id, "AWS::SQS::QueuePolicy", "its queue is not in this template");
      }
    }
  }

  Result<void> add_function(const std::string& id) {
    const Node given = TRY(properties(id));
    const std::string name = TRY(resolver_.name_of(id));
    Resource function{.kind = Kind::function, .id = id, .name = name};
    take(function.properties, given, kFunctionMembers);
    function.tags = tags_of(given["Tags"]);
    function.code = TRY(code_of(id, given["Code"]));
    stack_.resources.push_back(std::move(function));
    return {};
  }

  // A CDK asset, a file named in the metadata, or an object.
  Result<Code> code_of(const std::string& id, const Node& code) {
    if (code.has("ZipFile"))
      return Code{.from = Code::From::text, .text = code["ZipFile"].scalar()};
    if (code.has("ImageUri")) return fail(ErrorCode::usage, "container images are not supported");
    const Node& asset = root_["Resources"][id]["Metadata"]["aws:asset:path"];
    if (asset.is_text()) {
      return Code{.from = Code::From::path, .path = around_.directory / asset.scalar()};
    }
    const std::string& key = code["S3Key"].scalar();
    for (const auto& [hash, file] : assets_["files"].members()) {
      for (const auto& [place, destination] : file["destinations"].members()) {
        if (destination["objectKey"].scalar() != key || key.empty()) continue;
        return Code{.from = Code::From::path,
                    .path = around_.directory / file["source"]["path"].scalar()};
      }
    }
    if (code.has("S3Bucket") && code.has("S3Key")) {
      return Code{.from = Code::From::bucket, .bucket_name = code["S3Bucket"].scalar(), .key = key};
    }
    return fail(ErrorCode::usage, "it has no code: neither ZipFile nor S3Bucket and S3Key");
  }

  Result<void> add_mapping(const std::string& id) {
    const Node given = TRY(properties(id));
    add_mapping_of(id, given, function_name_of(given["FunctionName"].scalar()));
    return {};
  }

  void add_mapping_of(const std::string& id, const Node& given, const std::string& function) {
    const Node& source = given.has("Queue") ? given["Queue"] : given["EventSourceArn"];
    if (!source.scalar().starts_with("arn:aws:sqs:")) {
      return note(
          id, "AWS::Lambda::EventSourceMapping", "only queues are supported as event sources");
    }
    Resource& mapping = begin(Kind::mapping, id, mapping_name(source.scalar(), function));
    mapping.properties.set("EventSourceArn", source);
    mapping.properties.set("FunctionName", Node::text(function));
    take(mapping.properties, given, kMappingMembers);
    mapping.tags = tags_of(given["Tags"]);
  }

  Result<void> add_invoke_config(const std::string& id) {
    const Node given = TRY(properties(id));
    add_invoke_config_of(id, given, function_name_of(given["FunctionName"].scalar()));
    return {};
  }

  void add_invoke_config_of(const std::string& id, const Node& given, const std::string& function) {
    Resource& config = begin(Kind::invoke_config, id, function);
    take(config.properties, given, kInvokeMembers);
    // SAM has a Type next to Destination, the API does not.
    if (Node* const destinations = config.properties.find("DestinationConfig")) {
      for (auto& [when, where] : destinations->members()) where.remove("Type");
    }
  }

  Result<void> add_alarm(const std::string& id) {
    const Node given = TRY(properties(id));
    if (given.has("Metrics")) {
      note(id, "AWS::CloudWatch::Alarm", "metric math is not supported");
      return {};
    }
    Resource& alarm = begin(Kind::alarm, id, TRY(resolver_.name_of(id)));
    take(alarm.properties, given, kAlarmMembers);
    alarm.tags = tags_of(given["Tags"]);
    return {};
  }

  Result<void> add_serverless_function(const std::string& id) {
    const Node given = TRY(properties(id));
    const std::string name = TRY(resolver_.name_of(id));
    Resource function{.kind = Kind::function, .id = id, .name = name};
    take(function.properties, given, kFunctionMembers);
    if (!given.has("Role")) {
      const auto role =
          fmt::format("arn:aws:iam::{}:role/{}-{}Role", around_.account, around_.stack_name, id);
      function.properties.set("Role", Node::text(role));
    }
    if (given.has("DeadLetterQueue")) {
      function.properties.set("DeadLetterConfig",
                              Node::map({{"TargetArn", given["DeadLetterQueue"]["TargetArn"]}}));
    }
    function.tags = tags_of(given["Tags"]);
    function.code = TRY(serverless_code(given));
    stack_.resources.push_back(std::move(function));
    if (given.has("EventInvokeConfig")) {
      add_invoke_config_of(id + "EventInvokeConfig", given["EventInvokeConfig"], name);
    }
    for (const auto& [event, declared] : given["Events"].members()) {
      if (declared["Type"].scalar() == "SQS") {
        add_mapping_of(id + event, declared["Properties"], name);
      } else {
        note(id + event, declared["Type"].scalar(), "only queues are supported as event sources");
      }
    }
    return {};
  }

  Result<Code> serverless_code(const Node& given) {
    if (given.has("InlineCode")) {
      return Code{.from = Code::From::text, .text = given["InlineCode"].scalar()};
    }
    const Node& place = given["CodeUri"];
    if (place.is_map()) {
      return Code{.from = Code::From::bucket,
                  .bucket_name = place["Bucket"].scalar(),
                  .key = place["Key"].scalar()};
    }
    constexpr std::string_view kScheme = "s3://";
    if (place.scalar().starts_with(kScheme)) {
      const std::string rest = place.scalar().substr(kScheme.size());
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      return Code{.from = Code::From::bucket,
                  .bucket_name = rest.substr(0, slash),
                  .key = rest.substr(std::min(slash + 1, rest.size()))};
    }
    if (place.is_text()) {
      return Code{.from = Code::From::path, .path = around_.directory / place.scalar()};
    }
    return fail(ErrorCode::usage, "it has no code: neither CodeUri nor InlineCode");
  }

  const Node& root_;
  const Node& assets_;
  const Surroundings& around_;
  Resolver resolver_;
  Stack stack_;
  std::vector<QueuePolicy> policies_;
};

}  // namespace

Result<Stack> read_template(const Node& root, const Node& assets, const Surroundings& around) {
  return TemplateReader(root, assets, around).read();
}

}  // namespace redrive::stack
