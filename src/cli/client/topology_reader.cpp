#include "cli/client/topology_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <set>

#include "aws/sqs/model/actions.h"
#include "base/calendar.h"
#include "base/text.h"
#include "cli/client/mapping_lookup.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "manage/documents/alarms.h"
#include "manage/documents/damage.h"
#include "manage/documents/functions.h"
#include "manage/documents/key_files.h"
#include "manage/documents/message_page.h"
#include "manage/documents/overview.h"

namespace redrive::cli {
namespace {

constexpr std::string_view kAwsSuffix = ".amazonaws.com";

topology::AllowPolicy parse_allow_policy(std::string_view policy) {
  using Permission = topology::AllowPolicy::Permission;
  topology::AllowPolicy out;
  if (policy.empty()) return out;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  std::string_view permission;
  if (parser.parse(policy.data(), policy.size()).get(object) != simdjson::SUCCESS) return out;
  if (object["redrivePermission"].get(permission) != simdjson::SUCCESS) return out;
  if (permission == "denyAll") out.permission = Permission::none;
  if (permission != "byQueue") return out;
  out.permission = Permission::by_queue;
  simdjson::dom::array sources;
  if (object["sourceQueueArns"].get(sources) != simdjson::SUCCESS) return out;
  for (const simdjson::dom::element source : sources) {
    std::string_view arn;
    if (source.get(arn) == simdjson::SUCCESS) out.source_arns.emplace_back(arn);
  }
  return out;
}

class TopologyReader {
 public:
  TopologyReader(Session& session, OldestAges ages)
      : session_(session),
        elsewhere_(session.endpoint.host.ends_with(kAwsSuffix)),
        ask_ages_(ages == OldestAges::ask && !elsewhere_) {}

  Answer<topology::Topology> read() {
    RETURN_IF_ERROR(read_listed());
    RETURN_IF_ERROR(read_unlisted());
    ask_ages();
    read_handlers();
    if (ask_ages_) ask_alarms();
    if (ask_ages_) ask_damage();
    if (ask_ages_) ask_key_files();
    topology::Topology topology(std::move(queues_), std::move(unseen_), std::move(handlers_));
    topology.set_notice_targets(std::move(notice_targets_));
    topology.set_damaged_events(std::move(damaged_events_));
    topology.set_exposed_key_files(std::move(exposed_key_files_));
    return topology;
  }

 private:
  Answer<void> read_listed() {
    std::string token;
    do {
      sqs::ListQueuesInput input{.max_results = 1000};
      if (!token.empty()) input.next_token = token;
      const auto page = TRY(session_.service.call<sqs::ListQueues>(input));
      for (const std::string_view url : page->queue_urls) {
        const auto read = read_queue(url);
        // A queue may be deleted after it was listed.
        if (!read && read.error().code != kNoSuchQueue) return read;
      }
      token = page->next_token.value_or("");
    } while (!token.empty());
    return {};
  }

  Answer<void> read_queue(std::string_view url) {
    const auto reply = TRY(session_.service.call<sqs::GetQueueAttributes>(
        {.queue_url = url, .attribute_names = {"All"}}));
    queues_.push_back(queue_of_attributes(reply->attributes));
    known_.insert(queues_.back().arn);
    return {};
  }

  // Determines whether an unlisted dead-letter queue does not exist or is only not visible to us.
  Answer<void> read_unlisted() {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i].target) continue;
      const std::string arn = queues_[i].target->arn;
      if (!known_.insert(arn).second) continue;
      const auto read = read_by_arn(arn);
      if (read || read.error().code == kNoSuchQueue) continue;
      if (read.error().kind != Failure::Kind::refused && read.error().kind != Failure::Kind::usage)
        return read;
      unseen_.push_back(arn);
    }
    return {};
  }

  Answer<void> read_by_arn(const std::string& arn) {
    return read_queue(TRY(find_queue_url(session_.service, arn)));
  }

  void ask_ages() {
    std::set<std::string> targets;
    for (const auto& queue : queues_) {
      if (queue.target) targets.insert(queue.target->arn);
    }
    for (auto& queue : queues_) {
      if (!ask_ages_) return;
      if (queue.messages() > 0 && targets.contains(queue.arn)) ask_age(queue);
    }
  }

  // Other servers do not support this request: then it is not repeated.
  void ask_age(topology::Queue& queue) {
    const auto page = session_.service.manage<documents::MessagePage>(
        "GET", fmt::format("queues/{}/messages?limit=1", percent_encode(queue.name(), false)));
    if (!page) {
      ask_ages_ = false;
      return;
    }
    if ((*page)->messages.empty()) return;
    const auto expires = parse_utc((*page)->messages.front().expires_at);
    const auto now = parse_utc((*page)->now.value_or(""));
    if (expires && now) queue.oldest_expires_in = *expires - *now;
  }

  // Functions and their mappings. AWS has them at another endpoint, and other servers may not have
  // them: then there are none to report.
  void read_handlers() {
    if (elsewhere_) return;
    std::map<std::string, Duration, std::less<>> timeouts;
    const auto mappings = for_each_mapping(session_, [&](const documents::MappingDocument& each) {
      handlers_.push_back({.mapping = std::string(each.uuid),
                           .queue_arn = std::string(each.event_source_arn),
                           .function = std::string(function_name_of(each.function_arn)),
                           .enabled = each.state == "Enabled" || each.state == "Enabling" ||
                                      each.state == "Creating",
                           .window = std::chrono::seconds(each.maximum_batching_window),
                           .batch_size = each.batch_size,
                           .item_failures = !each.function_response_types.empty(),
                           .bisects = each.bisect_batch.value_or(false),
                           .isolates = isolates(each),
                           .retries = retries_of(each)});
    });
    if (!mappings || handlers_.empty() || !read_timeouts(timeouts)) {
      handlers_.clear();
      return;
    }
    for (topology::Handler& handler : handlers_) {
      const auto found = timeouts.find(handler.function);
      if (found != timeouts.end()) handler.timeout = found->second;
    }
    read_outcomes();
  }

  // Only Redrive isolates retries, by default.
  bool isolates(const documents::MappingDocument& mapping) const {
    return ask_ages_ && mapping.isolate_retries.value_or(true);
  }

  static std::optional<std::int64_t> retries_of(const documents::MappingDocument& mapping) {
    std::optional<std::int64_t> most = mapping.maximum_retry_attempts;
    for (const documents::Retrier& retrier : mapping.retry_policy) {
      most = std::max(most.value_or(0), retrier.max_attempts.value_or(0));
    }
    return most;
  }

  bool read_timeouts(std::map<std::string, Duration, std::less<>>& timeouts) {
    std::string marker;
    do {
      const auto page = session_.service.lambda<documents::FunctionList>(
          "GET", fmt::format("2015-03-31/functions?Marker={}", percent_encode(marker, false)));
      if (!page) return false;
      for (const documents::FunctionConfiguration& each : (*page)->functions) {
        timeouts[std::string(each.function_name)] = std::chrono::seconds(each.timeout);
      }
      marker = (*page)->next_marker.value_or("");
    } while (!marker.empty());
    return true;
  }

  // Statistics of handlers, which only Redrive reports.
  void read_outcomes() {
    if (!ask_ages_) return;
    const auto overview = session_.service.manage<documents::Overview>("GET", "overview?limit=1");
    if (!overview) return;
    for (const documents::HandlerOverview& seen : (*overview)->handlers) {
      const auto handler =
          std::ranges::find(handlers_, seen.mapping.value_or(""), &topology::Handler::mapping);
      if (handler == handlers_.end()) continue;
      handler->messages = seen.messages;
      handler->failed = seen.failed;
      handler->stuck = seen.enabled && !seen.polling;
      handler->short_of_processes = seen.slowed_by.value_or("") == "function-processes";
    }
  }

  void ask_alarms() {
    const auto list = session_.service.manage<documents::AlarmList>("GET", "alarms");
    if (!list) return;
    for (const documents::AlarmLine& alarm : (*list)->alarms) {
      for (topology::Queue& queue : queues_) {
        if (alarm.kind == "dead-letters" && queue.name() == alarm.queue) queue.alarmed = alarm.on;
      }
      for (const documents::AlarmTarget& target : alarm.targets) {
        if (!alarm.on) continue;
        notice_targets_.push_back({.alarm = std::string(alarm.name),
                                   .queue = std::string(alarm.queue),
                                   .target = std::string(target.target),
                                   .state = std::string(target.state),
                                   .error = std::string(target.error)});
      }
    }
  }

  void ask_damage() {
    const auto counts = session_.service.manage<documents::DamagedCounts>("GET", "damaged");
    if (!counts) return;
    for (const documents::DamagedCount& count : (*counts)->queues) {
      for (topology::Queue& queue : queues_) {
        if (queue.name() == count.queue) queue.damaged = count.messages;
      }
    }
    for (const documents::DamagedEventCount& count : (*counts)->functions) {
      damaged_events_.push_back({std::string(count.function), count.messages});
    }
  }

  // Only keys that may see the whole server get an answer.
  void ask_key_files() {
    const auto found =
        session_.service.manage<documents::ExposedKeyFiles>("GET", "exposed-key-files");
    if (!found) return;
    for (const documents::ExposedKeyFile& file : (*found)->files) {
      exposed_key_files_.push_back({std::string(file.path), file.exposed_to == "others"});
    }
  }

  Session& session_;
  const bool elsewhere_;
  bool ask_ages_;
  std::vector<topology::NoticeTarget> notice_targets_;
  std::vector<topology::DamagedEvents> damaged_events_;
  std::vector<topology::ExposedKeyFile> exposed_key_files_;
  std::vector<topology::Handler> handlers_;
  std::vector<topology::Queue> queues_;
  std::vector<std::string> unseen_;
  std::set<std::string> known_;
};

}  // namespace

topology::Queue queue_of_attributes(const sqs::StringMap& attributes) {
  const auto text = [&](std::string_view name) { return attribute_of(attributes, name); };
  const auto number = [&](std::string_view name) {
    return parse_int<std::int64_t>(text(name)).value_or(0);
  };
  const auto period = [&](std::string_view name) {
    return Duration(std::chrono::seconds(number(name)));
  };
  topology::Queue queue{.arn = std::string(text("QueueArn")),
                        .fifo = text("FifoQueue") == "true",
                        .visible = number("ApproximateNumberOfMessages"),
                        .in_flight = number("ApproximateNumberOfMessagesNotVisible"),
                        .delayed = number("ApproximateNumberOfMessagesDelayed"),
                        .retention = period("MessageRetentionPeriod"),
                        .visibility_timeout = period("VisibilityTimeout"),
                        .allow = parse_allow_policy(text("RedriveAllowPolicy"))};
  if (const auto target = parse_redrive_policy(text("RedrivePolicy"))) {
    queue.target = {.arn = target->arn, .receive_count_max = target->receive_count_max};
  }
  return queue;
}

Answer<topology::Topology> read_topology(Session& session, OldestAges ages) {
  return TopologyReader(session, ages).read();
}

}  // namespace redrive::cli
