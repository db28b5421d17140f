// Redrive's own stack format: [[queue]], [[function]], [[mapping]], [[bucket]], [[alarm]].

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stack/sections.h"
#include "stack/stack.h"
#include "stack/topology_settings.h"

namespace redrive::stack {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kComparisons = {{
    {">", "GreaterThanThreshold"},
    {">=", "GreaterThanOrEqualToThreshold"},
    {"<", "LessThanThreshold"},
    {"<=", "LessThanOrEqualToThreshold"},
}};

std::unexpected<Error> misused(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

Tags tags_in(const Node& table) {
  Tags tags;
  for (const auto& [key, value] : table["tags"].members()) tags[key] = value.scalar();
  return tags;
}

Node destination_config(const Node& success, const Node& failure) {
  Node config = Node::map();
  if (success.is_text()) config.set("OnSuccess", Node::map({{"Destination", success}}));
  if (failure.is_text()) config.set("OnFailure", Node::map({{"Destination", failure}}));
  return config;
}

class TopologyReader {
 public:
  explicit TopologyReader(const Surroundings& around) : around_(around) {}

  Result<Stack> read(const Node& root) {
    stack_.name = around_.stack_name;
    for (const auto& [name, value] : root.members()) {
      const bool table = value.is_map() ||
                         (value.is_list() && !value.items().empty() && value.items()[0].is_map());
      const bool known = is_stack_section(name) || is_server_section(name);
      if (table && !known) return misused(fmt::format("unknown table {}", name));
      if (!is_stack_section(name) || value.is_text()) continue;
      if (!value.is_list()) return misused(fmt::format("expected [[{}]] tables", name));
      for (const Node& item : value.items()) RETURN_IF_ERROR(add(name, item));
    }
    RETURN_IF_ERROR(put_in_order(stack_));
    return std::move(stack_);
  }

 private:
  Result<void> add(std::string_view section, const Node& table) {
    if (section == "queue") return add_queue(table);
    if (section == "function") return add_function(table);
    if (section == "mapping") return add_mapping(table);
    if (section == "bucket") return add_bucket(table);
    return add_alarm(table);
  }

  static Result<std::string> name_in(const Node& table, std::string_view section) {
    const std::string& name = table["name"].scalar();
    if (name.empty()) return misused(fmt::format("a {} without a name", section));
    return name;
  }

  // A queue given by name or ARN.
  std::string queue_arn_of(const Node& text) const {
    return text.scalar().starts_with("arn:") ? text.scalar() : around_.queue_arn(text.scalar());
  }

  // A destination: a URL or an ARN is kept, a plain name is a queue's.
  Node destination(const Node& text) const {
    if (!text.is_text() || text.scalar().find(':') != std::string::npos) return text;
    return Node::text(around_.queue_arn(text.scalar()));
  }

  Result<void> add_queue(const Node& table) {
    std::string name = TRY(name_in(table, "queue"));
    const bool fifo = table["fifo"].truth().value_or(name.ends_with(".fifo"));
    if (fifo && !name.ends_with(".fifo")) name += ".fifo";
    const std::string where = "queue " + name;
    const Node members = TRY(members_of(table, kQueueSettings, where));
    Resource queue{.kind = Kind::queue, .id = name, .name = name, .tags = tags_in(table)};
    for (const auto& [attribute, value] : table["attributes"].members()) {
      const bool scalar = value.is_scalar();
      queue.properties.set(attribute,
                           Node::text(scalar ? value.scalar() : value.json(Node::Order::sorted)));
    }
    for (const auto& [attribute, value] : members.members()) {
      queue.properties.set(attribute, Node::text(value.scalar()));
    }
    if (fifo) queue.properties.set("FifoQueue", Node::text("true"));
    RETURN_IF_ERROR(add_redrive(queue, table, fifo));
    if (table.has("policy"))
      queue.properties.set("Policy", Node::text(policy_text(table["policy"])));
    if (table.has("dead-letters")) {
      queue.properties.set(kDeadLetters, TRY(dead_letters(table["dead-letters"], where)));
    }
    stack_.resources.push_back(std::move(queue));
    return {};
  }

  // Includes the defaults, because the server returns them.
  static Result<Node> dead_letters(const Node& table, const std::string& where) {
    const Node given = TRY(members_of(table, kDeadLetterSettings, where + ": dead-letters"));
    Node policy = *read_json(
        R"({"maxRedrives":0,"redriveAfterSeconds":0,"backoffRate":2,"maxRedriveAfterSeconds":43200,"then":"park","archiveExpiring":false})");
    for (const auto& [name, value] : given.members()) policy.set(name, value);
    return policy;
  }

  static std::string policy_text(const Node& policy) {
    return policy.is_text() ? policy.scalar() : policy.json(Node::Order::sorted);
  }

  Result<void> add_redrive(Resource& queue, const Node& table, bool fifo) const {
    if (table.has("max-receives") && !table.has("dlq")) {
      return misused(fmt::format("{}: max-receives requires dlq", queue.title()));
    }
    if (table.has("dlq")) {
      Node target = table["dlq"];
      const bool bare = !target.scalar().starts_with("arn:");
      if (bare && fifo && !target.scalar().ends_with(".fifo")) {
        target = Node::text(target.scalar() + ".fifo");
      }
      const std::int64_t receives = table["max-receives"].integer().value_or(3);
      const Node policy = Node::map({{"deadLetterTargetArn", Node::text(queue_arn_of(target))},
                                     {"maxReceiveCount", Node::number(receives)}});
      queue.properties.set("RedrivePolicy", Node::text(policy.json()));
    }
    if (!table.has("redrive-allow")) return {};
    Node allow = Node::map();
    const Node& given = table["redrive-allow"];
    if (given.is_text() && given.scalar() != "all" && given.scalar() != "none") {
      return misused(fmt::format("{}: redrive-allow must be \"all\", \"none\" or a list of queues",
                                 queue.title()));
    }
    const bool all = given.is_text() && given.scalar() == "all";
    allow.set("redrivePermission",
              Node::text(given.is_list() ? "byQueue"
                         : all           ? "allowAll"
                                         : "denyAll"));
    if (given.is_list()) {
      Node sources = Node::list();
      for (const Node& source : given.items()) {
        sources.items().push_back(Node::text(queue_arn_of(source)));
      }
      allow.set("sourceQueueArns", std::move(sources));
    }
    queue.properties.set("RedriveAllowPolicy", Node::text(allow.json()));
    return {};
  }

  Result<void> add_bucket(const Node& table) {
    const std::string name = TRY(name_in(table, "bucket"));
    TRY(members_of(table, kBucketSettings, "bucket " + name));
    stack_.resources.push_back(
        {.kind = Kind::bucket, .id = name, .name = name, .tags = tags_in(table)});
    return {};
  }

  Result<void> add_function(const Node& table) {
    const std::string name = TRY(name_in(table, "function"));
    Resource function{.kind = Kind::function, .id = name, .name = name, .tags = tags_in(table)};
    function.properties = TRY(members_of(table, kFunctionSettings, "function " + name));
    if (!function.properties.has("Role")) {
      const auto role = fmt::format("arn:aws:iam::{}:role/redrive", around_.account);
      function.properties.set("Role", Node::text(role));
    }
    if (table.has("environment")) {
      Node variables = Node::map();
      for (const auto& [key, value] : table["environment"].members()) {
        variables.set(key, Node::text(value.scalar()));
      }
      function.properties.set("Environment", Node::map({{"Variables", std::move(variables)}}));
    }
    if (table.has("dlq")) {
      function.properties.set("DeadLetterConfig",
                              Node::map({{"TargetArn", Node::text(queue_arn_of(table["dlq"]))}}));
    }
    function.code = code_in(table);
    const bool needs_code = !function.properties.has("Command") && !function.properties.has("Url");
    if (needs_code && !function.code) {
      return misused(fmt::format("function {} has no code, command or url", name));
    }
    stack_.resources.push_back(std::move(function));
    return add_invoke_config(name, table);
  }

  std::optional<Code> code_in(const Node& table) const {
    if (table.has("inline")) {
      return Code{.from = Code::From::text, .text = table["inline"].scalar()};
    }
    if (table.has("directory")) {
      return Code{
          .from = Code::From::directory,
          .path = std::filesystem::absolute(around_.directory / table["directory"].scalar())};
    }
    if (!table.has("code")) return std::nullopt;
    return Code{.from = Code::From::path, .path = around_.directory / table["code"].scalar()};
  }

  Result<void> add_invoke_config(const std::string& name, const Node& table) {
    Node config = Node::map();
    if (table.has("retries")) config.set("MaximumRetryAttempts", table["retries"]);
    if (const auto age = seconds_of(table["max-event-age"])) {
      config.set("MaximumEventAgeInSeconds", Node::number(*age));
    }
    Node destinations =
        destination_config(destination(table["on-success"]), destination(table["on-failure"]));
    if (!destinations.members().empty()) config.set("DestinationConfig", std::move(destinations));
    if (config.members().empty()) return {};
    stack_.resources.push_back({.kind = Kind::invoke_config,
                                .id = name + " invocation",
                                .name = name,
                                .properties = std::move(config)});
    return {};
  }

  Result<void> add_mapping(const Node& table) {
    const std::string function = table["function"].scalar();
    if (function.empty() || table["queue"].scalar().empty()) {
      return misused("a mapping requires a queue and a function");
    }
    const std::string arn = queue_arn_of(table["queue"]);
    const std::string where = fmt::format("mapping {} → {}", last_part(arn), function);
    Resource mapping{.kind = Kind::mapping,
                     .id = where,
                     .name = mapping_name(arn, function),
                     .tags = tags_in(table)};
    mapping.properties =
        Node::map({{"EventSourceArn", Node::text(arn)}, {"FunctionName", Node::text(function)}});
    const Node members = TRY(members_of(table, kMappingSettings, where));
    for (const auto& [name, value] : members.members()) mapping.properties.set(name, value);
    if (table["report-item-failures"].truth().value_or(false)) {
      mapping.properties.set("FunctionResponseTypes",
                             Node::list({Node::text("ReportBatchItemFailures")}));
    }
    if (table.has("filters")) mapping.properties.set("FilterCriteria", filters(table["filters"]));
    if (table.has("concurrency")) {
      mapping.properties.set("ScalingConfig",
                             Node::map({{"MaximumConcurrency", table["concurrency"]}}));
    }
    Node destinations =
        destination_config(destination(table["on-success"]), destination(table["on-failure"]));
    if (!destinations.members().empty()) {
      mapping.properties.set("DestinationConfig", std::move(destinations));
    }
    if (table.has("retry")) {
      Node retriers = Node::list();
      for (const Node& retrier : table["retry"].items()) {
        retriers.items().push_back(TRY(members_of(retrier, kRetrySettings, where + ": retry")));
      }
      mapping.properties.set("RetryPolicy", std::move(retriers));
    }
    stack_.resources.push_back(std::move(mapping));
    return {};
  }

  // Patterns as texts or as tables.
  static Node filters(const Node& given) {
    Node list = Node::list();
    for (const Node& filter : given.items()) {
      Node pattern = filter.is_text() ? filter : Node::text(filter.json());
      list.items().push_back(Node::map({{"Pattern", std::move(pattern)}}));
    }
    return Node::map({{"Filters", std::move(list)}});
  }

  // An alarm on a queue needs only a name: by default it is raised when the queue is not empty.
  Result<void> add_alarm(const Node& table) {
    const std::string name = TRY(name_in(table, "alarm"));
    Resource alarm{.kind = Kind::alarm, .id = name, .name = name, .tags = tags_in(table)};
    alarm.properties = TRY(members_of(table, kAlarmSettings, "alarm " + name));
    const auto fill = [&](std::string_view member, Node value) {
      if (!alarm.properties.has(member)) alarm.properties.set(member, std::move(value));
    };
    Node dimensions = Node::list();
    if (table.has("queue")) {
      fill("Namespace", Node::text("AWS/SQS"));
      fill("MetricName", Node::text("ApproximateNumberOfMessagesVisible"));
      dimensions.items().push_back(
          Node::map({{"Name", Node::text("QueueName")}, {"Value", table["queue"]}}));
    }
    for (const auto& [key, value] : table["dimensions"].members()) {
      dimensions.items().push_back(
          Node::map({{"Name", Node::text(key)}, {"Value", Node::text(value.scalar())}}));
    }
    if (!dimensions.items().empty()) alarm.properties.set("Dimensions", std::move(dimensions));
    if (!alarm.properties.has("ExtendedStatistic")) fill("Statistic", Node::text("Maximum"));
    fill("ComparisonOperator", Node::text(">"));
    fill("Threshold", Node::number(0));
    fill("Period", Node::number(60));
    fill("EvaluationPeriods", Node::number(1));
    for (const auto& [sign, word] : kComparisons) {
      Node& comparison = *alarm.properties.find("ComparisonOperator");
      if (comparison.scalar() == sign) comparison = Node::text(std::string(word));
    }
    stack_.resources.push_back(std::move(alarm));
    return {};
  }

  const Surroundings& around_;
  Stack stack_;
};

}  // namespace

Result<Stack> read_topology(const Node& root, const Surroundings& around) {
  return TopologyReader(around).read(root);
}

}  // namespace redrive::stack
