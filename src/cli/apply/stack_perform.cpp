// The calls that bring a server in line with a stack.

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/model/actions.h"
#include "base/text.h"
#include "cli/apply/stack_site.h"
#include "net/wire/encode.h"

namespace redrive::cli {
namespace {

using stack::Kind;
using stack::Node;
using stack::PlanItem;
using stack::Step;

sqs::StringMap views_of_tags(const stack::Tags& tags) {
  return {tags.begin(), tags.end()};
}

sqs::StringMap views_of_texts(const Node& map) {
  sqs::StringMap views;
  for (const auto& [name, value] : map.members()) views.emplace_back(name, value.scalar());
  return views;
}

Node map_of_tags(const stack::Tags& tags) {
  Node map = Node::map();
  for (const auto& [key, value] : tags) map.set(key, Node::text(value));
  return map;
}

Node list_of_tags(const stack::Tags& tags) {
  Node list = Node::list();
  for (const auto& [key, value] : tags) {
    list.items().push_back(Node::map({{"Key", Node::text(key)}, {"Value", Node::text(value)}}));
  }
  return list;
}

std::string tagging_document(const stack::Tags& tags) {
  std::string out = R"(<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet>)";
  for (const auto& [key, value] : tags) {
    out += "<Tag><Key>";
    wire::append_xml_text(out, key);
    out += "</Key><Value>";
    wire::append_xml_text(out, value);
    out += "</Value></Tag>";
  }
  return out + "</TagSet></Tagging>";
}

// All tags after the item is applied.
stack::Tags final_tags(const PlanItem& item) {
  stack::Tags tags = item.actual == nullptr ? stack::Tags() : item.actual->tags;
  for (const auto& [key, value] : item.tags) tags[key] = value;
  for (const std::string& key : item.tags_removed) tags.erase(key);
  return tags;
}

constexpr std::string_view kConcurrency = "ReservedConcurrentExecutions";

// Without what is not part of a function's configuration: its code and its reserved concurrency.
Node settings_of(Node changes) {
  for (const std::string_view other :
       {std::string_view("CodeSha256"), std::string_view("Directory"), kConcurrency}) {
    changes.remove(other);
  }
  return changes;
}

}  // namespace

Answer<void> StackSite::perform(const PlanItem& item) {
  switch (item.kind) {
    case Kind::bucket:
      return perform_bucket(item);
    case Kind::queue:
      return perform_queue(item);
    case Kind::function:
      return perform_function(item);
    case Kind::invoke_config:
      return perform_invocation(item);
    case Kind::mapping:
      return perform_mapping(item);
    case Kind::alarm:
      return perform_alarm(item);
  }
  return {};
}

Answer<void> StackSite::perform_bucket(const PlanItem& item) {
  if (item.step == Step::remove) {
    TRY(rest_.s3("DELETE", item.actual->handle));
    return {};
  }
  const std::string path = "/" + percent_encode(item.wanted->name, false);
  if (item.step == Step::create) TRY(rest_.s3("PUT", path));
  TRY(rest_.s3("PUT", path + "?tagging=", tagging_document(final_tags(item))));
  return {};
}

Answer<void> StackSite::perform_queue(const PlanItem& item) {
  Service& service = session_.service;
  const std::string& name = item.wanted == nullptr ? item.actual->name : item.wanted->name;
  const Node& letters = item.changes[stack::kDeadLetters];
  Node attributes = item.changes;
  attributes.remove(stack::kDeadLetters);
  if (item.step == Step::create) {
    TRY(service.call<sqs::CreateQueue>({.queue_name = name,
                                        .attributes = views_of_texts(attributes),
                                        .tags = views_of_tags(item.tags)}));
    if (!letters.is_null()) TRY(dead_letter_policy("PUT", name, letters));
    return {};
  }
  const std::string_view url = item.actual->handle;
  if (item.step == Step::remove) {
    TRY(service.call<sqs::DeleteQueue>({.queue_url = url}));
    return {};
  }
  if (!attributes.members().empty()) {
    TRY(service.call<sqs::SetQueueAttributes>(
        {.queue_url = url, .attributes = views_of_texts(attributes)}));
  }
  if (item.changes.has(stack::kDeadLetters)) {
    const bool none = letters.members().empty();
    TRY(dead_letter_policy(none ? "DELETE" : "PUT", name, none ? Node() : letters));
  }
  if (!item.tags.empty()) {
    TRY(service.call<sqs::TagQueue>({.queue_url = url, .tags = views_of_tags(item.tags)}));
  }
  if (!item.tags_removed.empty()) {
    TRY(service.call<sqs::UntagQueue>(
        {.queue_url = url, .tag_keys = {item.tags_removed.begin(), item.tags_removed.end()}}));
  }
  return {};
}

Node StackSite::code_of(const stack::Resource& function) const {
  if (function.code && function.code->from == stack::Code::From::directory) {
    return Node::map({{"Directory", Node::text(function.code->path.string())}});
  }
  const auto packed = packages_.find(function.name);
  if (packed == packages_.end()) return {};
  return Node::map({{"ZipFile", Node::text(base64_encode(packed->second))}});
}

Answer<void> StackSite::perform_function(const PlanItem& item) {
  if (item.step == Step::create) return create_function(item);
  if (item.step == Step::change) return change_function(item);
  TRY(rest_.lambda("DELETE", "/2015-03-31/functions/" + item.actual->name));
  return {};
}

Answer<void> StackSite::create_function(const PlanItem& item) {
  Node body = settings_of(item.changes);
  body.set("FunctionName", Node::text(item.wanted->name));
  body.set("Tags", map_of_tags(item.tags));
  const Node code = code_of(*item.wanted);
  if (!code.is_null()) body.set("Code", code);
  TRY(rest_.lambda("POST", "/2015-03-31/functions", body));
  if (!item.changes.has(kConcurrency)) return {};
  return set_concurrency(item.wanted->name, item.changes[kConcurrency]);
}

Answer<void> StackSite::change_function(const PlanItem& item) {
  const std::string path = "/2015-03-31/functions/" + item.actual->name;
  if (item.changes.has("CodeSha256") || item.changes.has("Directory")) {
    TRY(rest_.lambda("PUT", path + "/code", code_of(*item.wanted)));
  }
  const Node settings = settings_of(item.changes);
  if (!settings.members().empty()) TRY(rest_.lambda("PUT", path + "/configuration", settings));
  if (item.changes.has(kConcurrency)) {
    RETURN_IF_ERROR(set_concurrency(item.actual->name, item.changes[kConcurrency]));
  }
  return tag_lambda(item.actual->handle, item);
}

Answer<void> StackSite::set_concurrency(const std::string& name, const Node& value) {
  const std::string path = fmt::format("/2017-10-31/functions/{}/concurrency", name);
  if (value.scalar().empty()) {
    TRY(rest_.lambda("DELETE", path));
  } else {
    TRY(rest_.lambda("PUT", path, Node::map({{std::string(kConcurrency), value}})));
  }
  return {};
}

Answer<void> StackSite::tag_lambda(const std::string& arn, const PlanItem& item) {
  const std::string path = "/2017-03-31/tags/" + percent_encode(arn, false);
  if (!item.tags.empty()) {
    TRY(rest_.lambda("POST", path, Node::map({{"Tags", map_of_tags(item.tags)}})));
  }
  std::string keys;
  for (const std::string& key : item.tags_removed) {
    keys += (keys.empty() ? "?tagKeys=" : "&tagKeys=") + percent_encode(key, false);
  }
  if (!keys.empty()) TRY(rest_.lambda("DELETE", path + keys));
  return {};
}

Answer<void> StackSite::perform_invocation(const PlanItem& item) {
  if (item.step == Step::remove) {
    TRY(rest_.lambda("DELETE", item.actual->handle));
    return {};
  }
  // PUT replaces the whole configuration.
  TRY(rest_.lambda("PUT",
                   fmt::format("/2019-09-25/functions/{}/event-invoke-config", item.wanted->name),
                   item.wanted->properties));
  return {};
}

Answer<void> StackSite::perform_mapping(const PlanItem& item) {
  const std::string path = "/2015-03-31/event-source-mappings";
  if (item.step == Step::create) {
    Node body = item.changes;
    body.set("Tags", map_of_tags(item.tags));
    TRY(rest_.lambda("POST", path, body));
    return {};
  }
  const std::string own = path + "/" + item.actual->handle;
  if (item.step == Step::remove) {
    TRY(rest_.lambda("DELETE", own));
    return {};
  }
  if (!item.changes.members().empty()) TRY(rest_.lambda("PUT", own, item.changes));
  return tag_lambda(item.actual->properties["EventSourceMappingArn"].scalar(), item);
}

Answer<void> StackSite::perform_alarm(const PlanItem& item) {
  constexpr std::string_view kVersion = "2010-08-01";
  const auto ask = [&](std::string_view action, const Node& members) -> Answer<void> {
    TRY(rest_.query("monitoring", kVersion, action, members));
    return {};
  };
  if (item.step == Step::remove) {
    return ask("DeleteAlarms",
               Node::map({{"AlarmNames", Node::list({Node::text(item.actual->name)})}}));
  }
  // PutMetricAlarm always replaces the whole alarm.
  Node body = item.wanted->properties;
  body.set("AlarmName", Node::text(item.wanted->name));
  if (item.step == Step::create) body.set("Tags", list_of_tags(item.tags));
  if (item.step == Step::create || !item.changes.members().empty()) {
    RETURN_IF_ERROR(ask("PutMetricAlarm", body));
  }
  if (item.step == Step::create) return {};
  const Node arn = Node::text(item.actual->handle);
  if (!item.tags.empty()) {
    RETURN_IF_ERROR(
        ask("TagResource", Node::map({{"ResourceARN", arn}, {"Tags", list_of_tags(item.tags)}})));
  }
  if (item.tags_removed.empty()) return {};
  Node keys = Node::list();
  for (const std::string& key : item.tags_removed) keys.items().push_back(Node::text(key));
  return ask("UntagResource", Node::map({{"ResourceARN", arn}, {"TagKeys", std::move(keys)}}));
}

}  // namespace redrive::cli
