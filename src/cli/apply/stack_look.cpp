// Reads the server's current state as stack resources.

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/model/actions.h"
#include "base/digest.h"
#include "base/text.h"
#include "cli/apply/code_package.h"
#include "cli/apply/stack_site.h"
#include "cli/client/queue_name.h"
#include "manage/documents/policy.h"

namespace redrive::cli {
namespace {

using stack::Actual;
using stack::Kind;
using stack::Node;
using stack::Resource;
using stack::Stack;

constexpr std::string_view kCloudWatchVersion = "2010-08-01";

bool wants(const Stack& stack, Kind kind, const std::string& name) {
  return std::ranges::any_of(stack.resources, [&](const Resource& resource) {
    return resource.kind == kind && resource.name == name;
  });
}

// Whether it is relevant for the plan.
bool concerns(const Stack& stack, const Actual& actual) {
  return actual.owner() == stack.name || wants(stack, actual.kind, actual.name);
}

std::string function_of_arn(const std::string& arn) {
  const std::size_t mark = arn.find(":function:");
  const std::string rest = mark == arn.npos ? arn : arn.substr(mark + 10);
  return rest.substr(0, rest.find(':'));
}

// <X><member>…</member></X> is a list; other children form a map.
Node node_of_xml(const XmlElement& element) {
  const bool lists = element.name.ends_with("Actions") || element.name == "Dimensions";
  if (lists || element.find("member") != nullptr) {
    Node list = Node::list();
    for (const XmlElement& child : element.children) list.items().push_back(node_of_xml(child));
    return list;
  }
  if (element.children.empty()) return Node::text(element.text);
  Node map = Node::map();
  for (const XmlElement& child : element.children) map.set(child.name, node_of_xml(child));
  return map;
}

stack::Tags tags_of_xml(const XmlElement* list) {
  stack::Tags tags;
  if (list == nullptr) return tags;
  for (const XmlElement& tag : list->children) {
    tags[std::string(tag.text_of("Key"))] = tag.text_of("Value");
  }
  return tags;
}

std::string base64_sha256(std::string_view bytes) {
  const Sha256 sum = sha256(bytes);
  return base64_encode({reinterpret_cast<const char*>(sum.data()), sum.size()});
}

// Iterates over the pages of a Lambda list; `path` is that of the first page.
template <class Use>
Answer<void> for_each_page(RestClient& rest, const std::string& path, Use use) {
  std::string marker;
  do {
    const std::string more = marker.empty() ? "" : "?Marker=" + percent_encode(marker, false);
    const Node page = TRY(rest.lambda("GET", path + more));
    RETURN_IF_ERROR(use(page));
    marker = page["NextMarker"].scalar();
  } while (!marker.empty());
  return {};
}

// Drops actions for services that Redrive lacks, such as SNS topics: the server refuses alarms with
// unsupported targets, and the rest of the stack should still be applied.
void leave_out_actions(Resource& alarm, std::vector<std::string>& notes) {
  const auto is_unknown = [](const Node& action) {
    const std::string& arn = action.scalar();
    const auto parts = split(arn, ':');
    return arn.starts_with("arn:") && parts.size() > 2 && parts[2] != "sqs" && parts[2] != "lambda";
  };
  for (const std::string_view list : {"AlarmActions", "OKActions", "InsufficientDataActions"}) {
    Node* const actions = alarm.properties.find(list);
    if (actions == nullptr) continue;
    for (const Node& action : actions->items()) {
      if (!is_unknown(action)) continue;
      notes.push_back(
          fmt::format("{}: the action {} is skipped: alarms notify queues, functions "
                      "and webhooks",
                      alarm.title(),
                      action.scalar()));
    }
    std::erase_if(actions->items(), is_unknown);
  }
}

}  // namespace

Answer<std::string> StackSite::account() {
  const XmlElement root = TRY(rest_.query("sts", "2011-06-15", "GetCallerIdentity"));
  const XmlElement* const result = root.find("GetCallerIdentityResult");
  return std::string(result == nullptr ? "" : result->text_of("Account"));
}

Answer<bool> StackSite::has_functions() {
  const auto answer = rest_.lambda("GET", "/2015-03-31/functions?MaxItems=1");
  if (!answer && !says_no_such_service(answer.error())) return std::unexpected(answer.error());
  return answer.has_value();
}

Answer<bool> StackSite::has_alarms() {
  const Node one = Node::map({{"MaxRecords", Node::number(1)}});
  const auto answer = rest_.query("monitoring", kCloudWatchVersion, "DescribeAlarms", one);
  if (!answer && !says_no_such_service(answer.error())) return std::unexpected(answer.error());
  return answer && answer->name == "DescribeAlarmsResponse";
}

Answer<void> StackSite::leave_out_unknown(Stack& stack) {
  const auto of_lambda = [](const Resource& resource) {
    return resource.kind == Kind::function || resource.kind == Kind::mapping ||
           resource.kind == Kind::invoke_config;
  };
  const auto is_alarm = [](const Resource& resource) { return resource.kind == Kind::alarm; };
  const auto drop = [&](const auto& which, std::string_view why) {
    for (const Resource& resource : stack.resources) {
      if (which(resource))
        stack.notes.push_back(fmt::format("{} is skipped: {}", resource.title(), why));
    }
    std::erase_if(stack.resources, which);
  };
  if (std::ranges::any_of(stack.resources, of_lambda) && !TRY(has_functions())) {
    drop(of_lambda, "this server has no functions");
  }
  if (std::ranges::any_of(stack.resources, is_alarm) && !TRY(has_alarms())) {
    drop(is_alarm, "this server has no alarms");
  }
  for (Resource& resource : stack.resources) {
    if (is_alarm(resource)) leave_out_actions(resource, stack.notes);
  }
  return {};
}

Answer<void> StackSite::pack_code(Stack& stack) {
  for (Resource& resource : stack.resources) {
    if (!resource.code) continue;
    const stack::Code& code = *resource.code;
    if (code.from == stack::Code::From::directory) {
      resource.properties.set("Directory", Node::text(code.path.string()));
      continue;
    }
    if (code.from == stack::Code::From::bucket) {
      const std::string path = fmt::format(
          "/{}/{}", percent_encode(code.bucket_name, true), percent_encode(code.key, true));
      packages_[resource.name] = TRY(rest_.s3("GET", path));
    } else {
      auto packed = code.from == stack::Code::From::path
                        ? package_code(code.path)
                        : package_text(resource.properties["Runtime"].scalar(), code.text);
      if (!packed)
        return usage_failure(fmt::format("{}: {}", resource.title(), packed.error().message));
      packages_[resource.name] = *std::move(packed);
    }
    const std::string digest = base64_sha256(packages_[resource.name]);
    resource.properties.set("CodeSha256", Node::text(digest));
  }
  return {};
}

Answer<std::vector<Actual>> StackSite::look(const Stack& stack) {
  Actuals out;
  RETURN_IF_ERROR(look_at_buckets(stack, out));
  RETURN_IF_ERROR(look_at_queues(stack, out));
  if (TRY(has_functions())) {
    RETURN_IF_ERROR(look_at_functions(stack, out));
    RETURN_IF_ERROR(look_at_mappings(stack, out));
  }
  if (TRY(has_alarms())) RETURN_IF_ERROR(look_at_alarms(stack, out));
  return out;
}

Answer<void> StackSite::look_at_buckets(const Stack& stack, Actuals& out) {
  const auto root = parse_xml(TRY(rest_.s3("GET", "/")));
  const XmlElement* const buckets = root ? root->find("Buckets") : nullptr;
  if (buckets == nullptr) return {};
  for (const XmlElement& bucket : buckets->children) {
    Actual actual{.kind = Kind::bucket,
                  .name = std::string(bucket.text_of("Name")),
                  .handle = "/" + percent_encode(bucket.text_of("Name"), false)};
    const auto tagging = rest_.s3("GET", actual.handle + "?tagging=");
    if (!tagging && !says_not_found(tagging.error())) return std::unexpected(tagging.error());
    if (const auto tags = tagging ? parse_xml(*tagging) : std::nullopt) {
      actual.tags = tags_of_xml(tags->find("TagSet"));
    }
    if (concerns(stack, actual)) out.push_back(std::move(actual));
  }
  return {};
}

Answer<void> StackSite::look_at_queues(const Stack& stack, Actuals& out) {
  std::string next;
  do {
    const auto page = TRY(session_.service.call<sqs::ListQueues>(
        {.max_results = 1000,
         .next_token = next.empty() ? std::nullopt : std::optional<std::string_view>(next)}));
    for (const std::string_view url : page->queue_urls) {
      Actual actual{
          .kind = Kind::queue, .name = std::string(queue_name_of(url)), .handle = std::string(url)};
      const auto tags = TRY(session_.service.call<sqs::ListQueueTags>({.queue_url = url}));
      for (const auto& [key, value] : tags->tags) actual.tags[std::string(key)] = value;
      if (!concerns(stack, actual)) continue;
      const auto read = TRY(session_.service.call<sqs::GetQueueAttributes>(
          {.queue_url = url, .attribute_names = {"All"}}));
      for (const auto& [name, value] : read->attributes) {
        actual.properties.set(name, Node::text(std::string(value)));
      }
      actual.properties.set(stack::kDeadLetters, TRY(dead_letter_policy("GET", actual.name)));
      out.push_back(std::move(actual));
    }
    next = page->next_token.value_or("");
  } while (!next.empty());
  return {};
}

// The queue's own policy; null if it has none.
Answer<Node> StackSite::dead_letter_policy(std::string_view method, const std::string& queue,
                                           const Node& body) {
  const std::string path = fmt::format("queues/{}/policy", percent_encode(queue, false));
  const auto policy = TRY(
      session_.service.manage<documents::Policy>(method, path, body.is_null() ? "" : body.json()));
  if (policy->source != "queue") return Node();
  std::string text;
  wire::encode_json(text, *policy);
  auto document = stack::read_json(text);
  if (!document) return unreadable_answer(document.error().message);
  document->remove("source");
  return *std::move(document);
}

Answer<void> StackSite::look_at_functions(const Stack& stack, Actuals& out) {
  return for_each_page(rest_, "/2015-03-31/functions", [&](const Node& page) -> Answer<void> {
    for (const Node& listed : page["Functions"].items()) {
      const std::string& name = listed["FunctionName"].scalar();
      const Node whole = TRY(rest_.lambda("GET", "/2015-03-31/functions/" + name));
      Actual actual{.kind = Kind::function,
                    .name = name,
                    .handle = listed["FunctionArn"].scalar(),
                    .properties = whole["Configuration"]};
      actual.properties.set("ReservedConcurrentExecutions",
                            whole["Concurrency"]["ReservedConcurrentExecutions"]);
      for (const auto& [key, value] : whole["Tags"].members()) actual.tags[key] = value.scalar();
      if (!concerns(stack, actual)) continue;
      RETURN_IF_ERROR(look_at_invocation(actual, out));
      out.push_back(std::move(actual));
    }
    return {};
  });
}

// It has no tags, so the function's owner is its owner.
Answer<void> StackSite::look_at_invocation(const Actual& function, Actuals& out) {
  const std::string path =
      fmt::format("/2019-09-25/functions/{}/event-invoke-config", function.name);
  auto config = rest_.lambda("GET", path);
  if (!config && says_not_found(config.error())) return {};
  if (!config) return std::unexpected(config.error());
  Actual actual{.kind = Kind::invoke_config,
                .name = function.name,
                .handle = path,
                .properties = *std::move(config)};
  if (!function.owner().empty()) actual.tags[std::string(stack::kStackTag)] = function.owner();
  out.push_back(std::move(actual));
  return {};
}

Answer<stack::Tags> StackSite::lambda_tags(const std::string& arn) {
  const Node answer = TRY(rest_.lambda("GET", "/2017-03-31/tags/" + percent_encode(arn, false)));
  stack::Tags tags;
  for (const auto& [key, value] : answer["Tags"].members()) tags[key] = value.scalar();
  return tags;
}

Answer<void> StackSite::look_at_mappings(const Stack& stack, Actuals& out) {
  const std::string path = "/2015-03-31/event-source-mappings";
  return for_each_page(rest_, path, [&](const Node& page) -> Answer<void> {
    for (const Node& listed : page["EventSourceMappings"].items()) {
      const std::string& state = listed["State"].scalar();
      if (state == "Deleting") continue;
      const std::string function = function_of_arn(listed["FunctionArn"].scalar());
      Actual actual{.kind = Kind::mapping,
                    .name = stack::mapping_name(listed["EventSourceArn"].scalar(), function),
                    .handle = listed["UUID"].scalar(),
                    .properties = listed,
                    .tags = TRY(lambda_tags(listed["EventSourceMappingArn"].scalar()))};
      actual.properties.set("FunctionName", Node::text(function));
      const bool off = state == "Disabled" || state == "Disabling";
      actual.properties.set("Enabled", Node::flag(!off));
      if (concerns(stack, actual)) out.push_back(std::move(actual));
    }
    return {};
  });
}

Answer<void> StackSite::look_at_alarms(const Stack& stack, Actuals& out) {
  Node parameters = Node::map();
  while (true) {
    const XmlElement root =
        TRY(rest_.query("monitoring", kCloudWatchVersion, "DescribeAlarms", parameters));
    const XmlElement* const result = root.find("DescribeAlarmsResult");
    const XmlElement* const alarms = result == nullptr ? nullptr : result->find("MetricAlarms");
    if (alarms == nullptr) return {};
    for (const XmlElement& alarm : alarms->children) {
      Actual actual{.kind = Kind::alarm,
                    .name = std::string(alarm.text_of("AlarmName")),
                    .handle = std::string(alarm.text_of("AlarmArn")),
                    .properties = node_of_xml(alarm)};
      const Node asked = Node::map({{"ResourceARN", Node::text(actual.handle)}});
      const XmlElement tags =
          TRY(rest_.query("monitoring", kCloudWatchVersion, "ListTagsForResource", asked));
      const XmlElement* const listed = tags.find("ListTagsForResourceResult");
      if (listed != nullptr) actual.tags = tags_of_xml(listed->find("Tags"));
      if (concerns(stack, actual)) out.push_back(std::move(actual));
    }
    const std::string next(result->text_of("NextToken"));
    if (next.empty()) return {};
    parameters.set("NextToken", Node::text(next));
  }
}

}  // namespace redrive::cli
