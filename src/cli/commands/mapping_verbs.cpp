#include <fmt/format.h>

#include "base/ids.h"
#include "base/text.h"
#include "cli/client/mapping_lookup.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/client/text_argument.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/overview.h"

// redrive mapping: event source mappings.

namespace redrive::cli {
namespace {

constexpr std::string_view kMappingsPath = "2015-03-31/event-source-mappings";

struct MappingOptions {
  std::string mapping;  // For `add`: the queue.
  std::string function;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> window;
  std::optional<std::int64_t> concurrency;
  std::vector<std::string> filters;
  std::optional<std::string> item_failures;  // on, off
  std::optional<std::string> bisect;         // on, off
  std::optional<std::string> isolate;        // on, off
  std::optional<std::int64_t> retries;
  std::optional<std::int64_t> age;
  std::optional<std::string> on_success;
  std::optional<std::string> on_failure;
  std::optional<std::string> retry_policy;  // JSON or @FILE.
  bool disabled = false;
};

// Builds a JSON request body member by member.
class RequestBody {
 public:
  void add(std::string_view name, std::string_view json) {
    body_ += fmt::format("{}\"{}\":{}", body_.empty() ? "" : ",", name, json);
  }
  void add_text(std::string_view name, std::string_view text) { add(name, quoted(text)); }
  void add_number(std::string_view name, std::optional<std::int64_t> number) {
    if (number) add(name, std::to_string(*number));
  }
  std::string text() const { return "{" + body_ + "}"; }

  static std::string quoted(std::string_view text) {
    std::string out;
    wire::append_json_text(out, text);
    return out;
  }

 private:
  std::string body_;
};

// `off` removes the destination.
std::string destination_json(const std::string& destination) {
  if (destination == "off") return "{}";
  return fmt::format(R"({{"Destination":{}}})", RequestBody::quoted(destination));
}

void add_filters(RequestBody& body, const std::vector<std::string>& filters) {
  if (filters.empty()) return;
  std::string list;
  for (const std::string& filter : filters) {
    if (filter == "off") continue;
    list +=
        fmt::format("{}{{\"Pattern\":{}}}", list.empty() ? "" : ",", RequestBody::quoted(filter));
  }
  body.add("FilterCriteria", list.empty() ? "{}" : fmt::format(R"({{"Filters":[{}]}})", list));
}

void add_destinations(RequestBody& body, const MappingOptions& options) {
  if (!options.on_success && !options.on_failure) return;
  body.add("DestinationConfig",
           fmt::format(R"({{"OnSuccess":{},"OnFailure":{}}})",
                       destination_json(options.on_success.value_or("off")),
                       destination_json(options.on_failure.value_or("off"))));
}

Answer<void> add_settings(RequestBody& body, const MappingOptions& options) {
  body.add_number("BatchSize", options.batch_size);
  body.add_number("MaximumBatchingWindowInSeconds", options.window);
  body.add_number("MaximumRetryAttempts", options.retries);
  body.add_number("MaximumRecordAgeInSeconds", options.age);
  if (options.concurrency) {
    body.add("ScalingConfig",
             *options.concurrency == 0
                 ? "{}"
                 : fmt::format(R"({{"MaximumConcurrency":{}}})", *options.concurrency));
  }
  if (options.item_failures) {
    body.add("FunctionResponseTypes",
             *options.item_failures == "on" ? R"(["ReportBatchItemFailures"])" : "[]");
  }
  if (options.bisect) {
    body.add("BisectBatchOnFunctionError", *options.bisect == "on" ? "true" : "false");
  }
  if (options.isolate) body.add("IsolateRetries", *options.isolate == "on" ? "true" : "false");
  add_filters(body, options.filters);
  add_destinations(body, options);
  if (options.retry_policy) body.add("RetryPolicy", TRY(text_or_file(*options.retry_policy)));
  return {};
}

void print_mapping(Session& session, const documents::MappingDocument& mapping) {
  if (session.json) {
    session.terminal().out << json_line(mapping);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) lines.emplace_back(name, harmless(value));
  };
  add("id", mapping.uuid);
  add("queue", mapping.event_source_arn);
  add("function", mapping.function_arn);
  add("state", mapping.state);
  add("batch",
      fmt::format(
          "at most {} messages, {} s", mapping.batch_size, mapping.maximum_batching_window));
  if (mapping.scaling_config && mapping.scaling_config->maximum_concurrency) {
    add("concurrency", fmt::format("at most {}", *mapping.scaling_config->maximum_concurrency));
  }
  if (!mapping.function_response_types.empty()) add("failures", "reported for each message");
  for (const auto& filter : mapping.filter_criteria.value_or(documents::FilterCriteria{}).filters) {
    add("filter", filter.pattern);
  }
  if (mapping.bisect_batch.value_or(false)) add("failed batches", "bisected");
  if (!mapping.isolate_retries.value_or(true)) add("retries", "not isolated");
  if (mapping.maximum_retry_attempts) {
    add("retries", fmt::format("at most {}", *mapping.maximum_retry_attempts));
  }
  if (mapping.maximum_record_age)
    add("age", fmt::format("at most {} s", *mapping.maximum_record_age));
  for (const documents::Retrier& each : mapping.retry_policy) {
    add("after",
        fmt::format("{}: {} retries, {} s, times {}",
                    fmt::join(each.error_equals, ", "),
                    each.max_attempts.value_or(0),
                    each.interval_seconds.value_or(0),
                    each.backoff_rate.value_or(1)));
  }
  if (mapping.destination_config) {
    const auto name = [](const std::optional<documents::Destination>& each) {
      return each ? each->destination.value_or("") : std::string_view();
    };
    add("on success", name(mapping.destination_config->on_success));
    add("on failure", name(mapping.destination_config->on_failure));
  }
  session.terminal().out << name_value_lines(session.terminal(), lines);
}

Answer<std::string> queue_arn(Session& session, const std::string& queue) {
  if (queue.starts_with("arn:")) return queue;
  const std::string url = TRY(find_queue_url(session.service, queue));
  const auto reply = TRY(session.service.call<sqs::GetQueueAttributes>(
      {.queue_url = url, .attribute_names = {"QueueArn"}}));
  return std::string(attribute_of(reply->attributes, "QueueArn"));
}

Answer<void> send_mapping(Session& session, std::string_view method, const std::string& path,
                          const std::string& body) {
  const auto reply = TRY(session.service.lambda<documents::MappingDocument>(method, path, body));
  print_mapping(session, *reply);
  return {};
}

Answer<void> run_mapping_add(const MappingOptions& options, Session& session) {
  RequestBody body;
  body.add_text("EventSourceArn", TRY(queue_arn(session, options.mapping)));
  body.add_text("FunctionName", options.function);
  if (options.disabled) body.add("Enabled", "false");
  RETURN_IF_ERROR(add_settings(body, options));
  return send_mapping(session, "POST", std::string(kMappingsPath), body.text());
}

Answer<void> run_mapping_set(const MappingOptions& options, Session& session) {
  RequestBody body;
  if (!options.function.empty()) body.add_text("FunctionName", options.function);
  RETURN_IF_ERROR(add_settings(body, options));
  const std::string id = TRY(find_mapping(session, options.mapping));
  return send_mapping(session, "PUT", fmt::format("{}/{}", kMappingsPath, id), body.text());
}

Answer<void> run_mapping_switch(const std::string& mapping, bool on, Session& session) {
  const std::string id = TRY(find_mapping(session, mapping));
  return send_mapping(session,
                      "PUT",
                      fmt::format("{}/{}", kMappingsPath, id),
                      fmt::format(R"({{"Enabled":{}}})", on));
}

// How many batches run concurrently, and what limits them. Other servers do not report it.
void show_concurrency(Session& session, const std::string& id) {
  const auto overview = session.service.manage<documents::Overview>("GET", "overview?limit=1");
  if (!overview) return;
  for (const documents::HandlerOverview& handler : (*overview)->handlers) {
    if (handler.mapping.value_or("") != id || handler.limit == 0) continue;
    session.terminal().out << fmt::format(
        "concurrency: {} running, limit {} now, {} at most{}\n",
        handler.running,
        handler.limit,
        handler.limit_max,
        handler.slowed_by ? fmt::format("; slowed by {}", harmless(*handler.slowed_by)) : "");
  }
}

Answer<void> run_mapping_show(const std::string& mapping, Session& session) {
  const std::string id = TRY(find_mapping(session, mapping));
  RETURN_IF_ERROR(send_mapping(session, "GET", fmt::format("{}/{}", kMappingsPath, id), ""));
  if (!session.json) show_concurrency(session, id);
  return {};
}

Answer<void> run_mapping_remove(const std::string& mapping, Session& session) {
  const std::string id = TRY(find_mapping(session, mapping));
  RETURN_IF_ERROR(session.service.ask_lambda("DELETE", fmt::format("{}/{}", kMappingsPath, id)));
  session.terminal().out << fmt::format("deleted {}\n", harmless(id));
  return {};
}

Answer<void> run_mapping_list(Session& session) {
  Table table({{"ID"}, {"QUEUE"}, {"FUNCTION"}, {"STATE"}, {"BATCH", Table::Align::right}});
  RETURN_IF_ERROR(for_each_mapping(session, [&](const documents::MappingDocument& each) {
    if (session.json) session.terminal().out << json_line(each);
    table.add({harmless(each.uuid),
               harmless(queue_name_of(each.event_source_arn)),
               harmless(function_name_of(each.function_arn)),
               harmless(each.state),
               std::to_string(each.batch_size)});
  }));
  if (session.json) return {};
  if (table.empty()) {
    session.terminal().err << "no mappings\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

void add_mapping_options(Verb verb, MappingOptions& options) {
  verb.option("--batch-size", options.batch_size, "Maximum messages in a batch (default 10)")
      .range(1, 10'000);
  verb.option("--window", options.window, "Seconds to wait for a full batch (default 0)")
      .range(0, 300);
  verb.option("--concurrency", options.concurrency, "Maximum concurrent batches; 0: no limit")
      .range(0, 1000);
  verb.option("--filter", options.filters, "Filter pattern; repeatable; off removes all")
      .one_at_a_time();
  verb.option("--item-failures", options.item_failures, "The handler reports failed messages")
      .one_of({"on", "off"});
  verb.option("--bisect", options.bisect, "Split failed batches in halves").one_of({"on", "off"});
  verb.option("--isolate-retries",
              options.isolate,
              "Run messages of a failed batch one by one (default on; standard queues only)")
      .one_of({"on", "off"});
  verb.option("--max-retries", options.retries, "Maximum retries; -1: no limit").range(-1, 10'000);
  verb.option("--max-age", options.age, "Maximum age of messages in seconds; -1: no limit")
      .range(-1, 604'800);
  verb.option("--on-success",
              options.on_success,
              "Destination: ARN of a queue, function or bucket, URL, or off");
  verb.option("--on-failure", options.on_failure, "Destination for messages that are given up");
  verb.option(
      "--retry-policy", options.retry_policy, "List of retriers as JSON or @FILE; [] removes them");
}

using RunNamed = Answer<void> (*)(const std::string&, Session&);

void add_named(Verb parent, Commands& commands, const char* name, const char* help, RunNamed run) {
  auto mapping = std::make_shared<std::string>();
  Verb verb = parent.verb(name, help);
  verb.option("MAPPING", *mapping, "Id of the mapping, or its queue or function if unambiguous")
      .required();
  commands.attach(verb, [mapping, run](Session& session) { return run(*mapping, session); });
}

}  // namespace

void add_mapping_verbs(Verb parent, Commands& commands) {
  auto added = std::make_shared<MappingOptions>();
  Verb add = parent.verb("add", "Create a mapping from a queue to a function");
  add.option("QUEUE", added->mapping, "Name, URL or ARN").required();
  add.option("FUNCTION", added->function, "Name or ARN").required();
  add_mapping_options(add, *added);
  add.flag("--paused", added->disabled, "Create the mapping paused");
  commands.attach(add, [added](Session& session) { return run_mapping_add(*added, session); });
  commands.attach(parent.verb("ls", "List mappings"), run_mapping_list);
  add_named(parent, commands, "show", "Show a mapping", run_mapping_show);
  auto changed = std::make_shared<MappingOptions>();
  Verb set = parent.verb("set", "Change settings of a mapping");
  set.option(
         "MAPPING", changed->mapping, "Id of the mapping, or its queue or function if unambiguous")
      .required();
  set.option("--function", changed->function, "Name or ARN");
  add_mapping_options(set, *changed);
  commands.attach(set, [changed](Session& session) { return run_mapping_set(*changed, session); });
  add_named(
      parent, commands, "rm", "Delete a mapping; messages stay in their queue", run_mapping_remove);
  add_named(parent,
            commands,
            "pause",
            "Pause a mapping; running batches finish",
            [](const std::string& mapping, Session& session) {
              return run_mapping_switch(mapping, false, session);
            });
  add_named(parent,
            commands,
            "resume",
            "Resume a mapping",
            [](const std::string& mapping, Session& session) {
              return run_mapping_switch(mapping, true, session);
            });
}

}  // namespace redrive::cli
