#include "observe/monitor/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "aws/sqs/model/errors.h"
#include "base/text.h"
#include "core/queue/hidden_queues.h"
#include "observe/metrics/exposition.h"
#include "observe/monitor/queue_reading.h"

namespace redrive::monitor {
namespace {

using metrics::Exposition;
using metrics::Family;
using metrics::Labels;

constexpr std::size_t kFirstMicrosBucket = 4;  // 16 µs: smaller buckets are not worth a line.

struct QueueFamily {
  std::string_view name;
  Family family;
  std::string_view help;
  std::uint64_t (*value)(const QueueReading&);
};

constexpr QueueFamily kQueueFamilies[] = {
    {"redrive_queue_messages_visible",
     Family::gauge,
     "Messages that can be received.",
     [](const QueueReading& q) { return q.visible; }},
    {"redrive_queue_messages_not_visible",
     Family::gauge,
     "Messages in flight.",
     [](const QueueReading& q) { return q.not_visible; }},
    {"redrive_queue_messages_delayed",
     Family::gauge,
     "Messages whose delay has not ended.",
     [](const QueueReading& q) { return q.delayed; }},
    {"redrive_queue_oldest_message_age_seconds",
     Family::gauge,
     "Age of the oldest message; in a dead-letter queue, since it arrived there.",
     [](const QueueReading& q) { return static_cast<std::uint64_t>(q.oldest_age.count() / 1000); }},
    {"redrive_queue_groups_in_flight",
     Family::gauge,
     "FIFO: message groups with messages in flight.",
     [](const QueueReading& q) { return q.groups_in_flight; }},
    {"redrive_queue_sent_total",
     Family::counter,
     "Messages sent.",
     [](const QueueReading& q) { return q.traffic.sent; }},
    {"redrive_queue_sent_bytes_total",
     Family::counter,
     "Bytes of messages sent, including attributes.",
     [](const QueueReading& q) { return q.traffic.sent_bytes; }},
    {"redrive_queue_received_total",
     Family::counter,
     "Messages delivered to consumers.",
     [](const QueueReading& q) { return q.traffic.received; }},
    {"redrive_queue_deleted_total",
     Family::counter,
     "Successful deletes.",
     [](const QueueReading& q) { return q.traffic.deleted; }},
    {"redrive_queue_empty_receives_total",
     Family::counter,
     "Receives without messages.",
     [](const QueueReading& q) { return q.traffic.empty_receives; }},
    {"redrive_queue_deduplicated_total",
     Family::counter,
     "FIFO: sends dropped as duplicates.",
     [](const QueueReading& q) { return q.traffic.deduplicated; }},
    {"redrive_queue_dead_lettered_total",
     Family::counter,
     "Dead letters that arrived in this queue.",
     [](const QueueReading& q) { return q.traffic.dead_lettered; }},
    {"redrive_queue_dead_lettered_away_total",
     Family::counter,
     "Messages that left this queue as dead letters.",
     [](const QueueReading& q) { return q.traffic.dead_lettered_away; }},
    {"redrive_queue_redriven_total",
     Family::counter,
     "Messages redriven from this queue.",
     [](const QueueReading& q) { return q.traffic.redriven; }},
    {"redrive_queue_failed_again_total",
     Family::counter,
     "Dead letters that arrived again after a redrive.",
     [](const QueueReading& q) { return q.traffic.failed_again; }},
    {"redrive_queue_expired_total",
     Family::counter,
     "Messages removed by retention.",
     [](const QueueReading& q) { return q.traffic.expired; }},
};

struct FairFamily {
  std::string_view name;
  std::string_view help;
  std::uint64_t (*value)(const QueueReading::Fair&);
};

constexpr FairFamily kFairFamilies[] = {
    {"redrive_queue_noisy_groups",
     "Standard queues with message groups: noisy groups.",
     [](const QueueReading::Fair& f) { return f.noisy_groups; }},
    {"redrive_queue_messages_visible_quiet",
     "Messages that can be received, without noisy groups.",
     [](const QueueReading::Fair& f) { return f.visible; }},
    {"redrive_queue_messages_not_visible_quiet",
     "Messages in flight, without noisy groups.",
     [](const QueueReading::Fair& f) { return f.not_visible; }},
    {"redrive_queue_messages_delayed_quiet",
     "Messages whose delay has not ended, without noisy groups.",
     [](const QueueReading::Fair& f) { return f.delayed; }},
    {"redrive_queue_oldest_message_age_quiet_seconds",
     "Age of the oldest message, without noisy groups.",
     [](const QueueReading::Fair& f) {
       return static_cast<std::uint64_t>(f.oldest_age.count() / 1000);
     }},
};

// Aggregates the queues beyond the limit: sums, and the maximum for ages.
std::uint64_t together(std::span<const QueueReading> readings, const QueueFamily& family) {
  std::uint64_t sum = 0;
  for (const QueueReading& reading : readings) {
    const std::uint64_t value = family.value(reading);
    sum = family.name.ends_with("_seconds") ? std::max(sum, value) : sum + value;
  }
  return sum;
}

Labels labels_of(const QueueReading& reading) {
  return {{"account", reading.identity.account},
          {"region", reading.identity.region},
          {"queue", reading.identity.name}};
}

// For queues with samples of their own.
void write_tenants(Exposition& out, std::span<const QueueReading> readings) {
  for (const FairFamily& family : kFairFamilies) {
    out.family(family.name, Family::gauge, family.help);
    for (const QueueReading& reading : readings) {
      if (reading.fair) out.sample(labels_of(reading), family.value(*reading.fair));
    }
  }
}

bool sees(const PageParts& parts, metrics::Scope scope, const std::string& name) {
  return !parts.sees || parts.sees({scope, name});
}

void write_queues(Exposition& out, const PageParts& parts) {
  std::vector<QueueReading> readings = read_queues(parts.engine, Extremes::keep);
  std::erase_if(readings, [&](const QueueReading& reading) {
    return !sees(parts, metrics::Scope::queue, reading.identity.arn());
  });
  const std::size_t own = std::min(readings.size(), parts.queues_max);
  out.family("redrive_queues", Family::gauge, "Number of queues.");
  out.sample({}, std::uint64_t{readings.size()});
  for (const QueueFamily& family : kQueueFamilies) {
    out.family(family.name, family.family, family.help);
    for (const QueueReading& reading : std::span(readings).first(own)) {
      out.sample(labels_of(reading), family.value(reading));
    }
    if (own == readings.size()) continue;
    out.sample({{"account", ""}, {"region", ""}, {"queue", "other"}},
               together(std::span(readings).subspan(own), family));
  }
  write_tenants(out, std::span(readings).first(own));
}

// Events belong to functions: their queues are hidden.
void write_damaged_events(
    Exposition& out, const PageParts& parts,
    std::span<const std::pair<queue::QueueIdentity, std::uint64_t>> of_functions) {
  out.family("redrive_damaged_events",
             Family::gauge,
             "Events of asynchronous invocations set aside because their stored bytes cannot be "
             "read.");
  for (const auto& [queue, messages] : of_functions) {
    const std::string function = queue::function_of_async(queue.name).value_or("");
    const std::string arn = fmt::format("arn:aws:lambda:{}:{}:function:{}",
                                        queue.region,
                                        queue.account,
                                        std::string_view(function).substr(0, function.find(':')));
    if (!sees(parts, metrics::Scope::function, arn)) continue;
    const Labels labels{
        {"account", queue.account}, {"region", queue.region}, {"function", function}};
    out.sample(labels, messages);
  }
}

void write_damage(Exposition& out, const PageParts& parts) {
  out.family("redrive_damaged_messages",
             Family::gauge,
             "Messages set aside because their stored bytes cannot be read.");
  std::uint64_t others = 0;
  std::size_t lines = 0;
  std::vector<std::pair<queue::QueueIdentity, std::uint64_t>> of_functions;
  for (const auto& [queue, messages] : parts.dead_letters.damage.counts()) {
    if (queue::function_of_async(queue.name)) {
      of_functions.emplace_back(queue, messages);
      continue;
    }
    if (!sees(parts, metrics::Scope::queue, queue.arn())) continue;
    if (++lines > parts.queues_max) {
      others += messages;
      continue;
    }
    const Labels labels{
        {"account", queue.account}, {"region", queue.region}, {"queue", queue.name}};
    out.sample(labels, messages);
  }
  if (lines > parts.queues_max)
    out.sample({{"account", ""}, {"region", ""}, {"queue", "other"}}, others);
  write_damaged_events(out, parts, of_functions);
}

void write_actions(Exposition& out, const metrics::ServerMetrics& recorded) {
  out.family("redrive_request_duration_seconds",
             Family::histogram,
             "Time from a complete request to sending the response, including syncs, excluding "
             "long-poll waits.");
  for (const auto& api : recorded.apis) {
    for (std::size_t i = 0; i < api->size(); ++i) {
      const metrics::Distribution latency = api->read_latency(i);
      if (latency.total() == 0) continue;
      out.sample({{"service", api->service()}, {"action", api->name(i)}},
                 latency,
                 1e-6,
                 kFirstMicrosBucket);
    }
  }
  out.family("redrive_request_errors_total", Family::counter, "Failed requests, by error.");
  for (const auto& api : recorded.apis) {
    for (std::size_t i = 0; i < api->size(); ++i) {
      // Several codes may have the same name on the wire.
      std::map<std::string, std::uint64_t, std::less<>> errors;
      for (int code = 0; code <= static_cast<int>(ErrorCode::network); ++code) {
        const auto error = static_cast<ErrorCode>(code);
        const std::string_view type = sqs::error_row(error).json_type;
        errors[std::string(type.substr(type.find('#') + 1))] += api->errors(i, error);
      }
      for (const auto& [name, count] : api->named_errors(i)) errors[name] += count;
      for (const auto& [error, count] : errors) {
        const Labels labels{
            {"service", api->service()}, {"action", api->name(i)}, {"error", error}};
        if (count > 0) out.sample(labels, count);
      }
    }
  }
}

void write_journal(Exposition& out, const PageParts& parts) {
  out.family(
      "redrive_journal_sync_duration_seconds", Family::histogram, "Duration of a journal sync.");
  out.sample({}, parts.recorded.sync_micros.read(), 1e-6, kFirstMicrosBucket);
  out.family(
      "redrive_journal_sync_records", Family::histogram, "Records that one sync made durable.");
  out.sample({}, parts.recorded.sync_records.read(), 1);
  if (!parts.sources.journal || !parts.sources.segments) return;
  const journal::Journal::Totals totals = parts.sources.journal();
  std::uint64_t used = 0;
  std::uint64_t held = 0;
  for (const auto& segment : parts.sources.segments()) {
    used += segment.used_bytes;
    held += segment.held_bytes;
  }
  out.family("redrive_journal_bytes_total", Family::counter, "Bytes appended to the journal.");
  out.sample({}, totals.bytes_appended);
  out.family("redrive_journal_syncs_total", Family::counter, "Journal syncs.");
  out.sample({}, totals.syncs);
  out.family("redrive_journal_segments", Family::gauge, "Segments in use.");
  out.sample({}, std::uint64_t{totals.segments});
  out.family("redrive_journal_spare_segments", Family::gauge, "Segments ready for use.");
  out.sample({}, std::uint64_t{totals.spares});
  out.family(
      "redrive_journal_live_ratio", Family::gauge, "Share of the journal's bytes that are live.");
  out.sample({}, used == 0 ? 1.0 : static_cast<double>(held) / static_cast<double>(used));
}

metrics::Distribution micros_of(const engine::TurnTimes& times) {
  metrics::Distribution distribution;
  const auto& counts = times.counts();
  std::ranges::copy(counts, distribution.counts.begin());
  distribution.sum = static_cast<std::uint64_t>(times.seconds() * 1e6);
  return distribution;
}
static_assert(engine::TurnTimes::kBuckets <= metrics::Distribution::kBuckets);

void write_turns(Exposition& out, engine::Engine& engine) {
  out.family("redrive_turn_seconds",
             Family::histogram,
             "Duration of turns: how long the engine was held while others waited.");
  out.sample({}, micros_of(engine.turn_times()), 1e-6);
}

void write_connections(Exposition& out, const Sources& sources) {
  if (!sources.http) return;
  const http::Server::Totals totals = sources.http();
  out.family("redrive_http_connections", Family::gauge, "Open connections.");
  out.sample({}, std::uint64_t{sources.connections ? sources.connections() : 0});
  out.family("redrive_http_connections_total", Family::counter, "Connections accepted.");
  out.sample({}, totals.accepted);
  out.family("redrive_http_received_bytes_total", Family::counter, "Bytes received.");
  out.sample({}, totals.bytes_received);
  out.family("redrive_http_sent_bytes_total", Family::counter, "Bytes sent.");
  out.sample({}, totals.bytes_sent);
  out.family("redrive_io_loop_seconds",
             Family::histogram,
             "Time that an I/O thread spends between two waits for events.");
  out.sample({}, totals.pass_micros, 1e-6, kFirstMicrosBucket);
  out.family("redrive_io_handler_max_seconds",
             Family::gauge,
             "Longest time that one request has occupied an I/O thread since the start.");
  out.sample({}, static_cast<double>(totals.handler_micros_max) * 1e-6);
  if (!sources.waiting_receives) return;
  out.family("redrive_waiting_receives", Family::gauge, "Receives that are waiting for messages.");
  out.sample({}, std::uint64_t{sources.waiting_receives()});
}

void write_traces(Exposition& out, const Sources& sources) {
  if (!sources.spans) return;
  const SpanTotals totals = sources.spans();
  out.family(
      "redrive_trace_spans_sent_total", Family::counter, "Spans that the collector accepted.");
  out.sample({}, totals.sent);
  out.family("redrive_trace_spans_dropped_total",
             Family::counter,
             "Spans that were dropped or that the collector did not accept.");
  out.sample({}, totals.dropped);
}

void write_notices(Exposition& out, const Sources& sources) {
  if (!sources.notices) return;
  const NoticeTotals totals = sources.notices();
  out.family("redrive_alarm_notices_delivered_total",
             Family::counter,
             "Alarm notifications that were delivered.");
  out.sample({}, totals.delivered);
  out.family("redrive_alarm_notices_given_up_total",
             Family::counter,
             "Alarm notifications that were given up after their last attempt.");
  out.sample({}, totals.given_up);
  out.family("redrive_alarm_notice_attempts_failed_total",
             Family::counter,
             "Failed attempts to deliver an alarm notification.");
  out.sample({}, totals.failed_attempts);
  out.family("redrive_alarm_notices_waiting",
             Family::gauge,
             "Alarm notifications that are not delivered yet.");
  out.sample({{"state", "queued"}}, totals.queued);
  out.sample({{"state", "failing"}}, totals.failing);
}

void write_disk(Exposition& out, const Sources& sources) {
  const auto disk = sources.disk ? sources.disk() : std::nullopt;
  if (!disk) return;
  out.family(
      "redrive_disk_free_bytes", Family::gauge, "Free space of the data directory's file system.");
  out.sample({}, disk->free_bytes);
  out.family(
      "redrive_disk_total_bytes", Family::gauge, "Size of the data directory's file system.");
  out.sample({}, disk->total_bytes);
}

void write_process(Exposition& out, const PageParts& parts) {
  const ProcessReading process = read_process();
  out.family("process_resident_memory_bytes", Family::gauge, "Memory in use.");
  out.sample({}, process.resident_bytes);
  out.family("process_cpu_seconds_total", Family::counter, "CPU time.");
  out.sample({}, process.cpu_seconds);
  out.family("process_open_fds", Family::gauge, "Open files.");
  out.sample({}, count_open_files());
  out.family("redrive_history_bytes", Family::gauge, "Memory used by the metrics history.");
  out.sample({}, std::uint64_t{parts.history.memory_bytes()});
  out.family(
      "redrive_history_subjects", Family::gauge, "Queues and functions in the metrics history.");
  out.sample({}, std::uint64_t{parts.history.size()});
}

template <class T>
struct NamedFamily {
  std::string_view name;
  Family family;
  std::string_view help;
  std::uint64_t (*value)(const T&);
};

using Function = metrics::FunctionMetrics;
constexpr NamedFamily<Function> kFunctionFamilies[] = {
    {"redrive_function_invocations_total",
     Family::counter,
     "Invocations that were run.",
     [](const Function& f) { return f.invocations.value(); }},
    {"redrive_function_throttles_total",
     Family::counter,
     "Throttled invocations.",
     [](const Function& f) { return f.throttles.value(); }},
    {"redrive_function_concurrency",
     Family::gauge,
     "Running invocations.",
     [](const Function& f) { return static_cast<std::uint64_t>(f.concurrency.value()); }},
    {"redrive_function_cold_starts_total",
     Family::counter,
     "Processes started.",
     [](const Function& f) { return f.cold_starts.value(); }},
    {"redrive_function_async_received_total",
     Family::counter,
     "Asynchronous events accepted.",
     [](const Function& f) { return f.async_received.value(); }},
    {"redrive_function_async_dropped_total",
     Family::counter,
     "Asynchronous events given up.",
     [](const Function& f) { return f.async_dropped.value(); }},
    {"redrive_function_destination_failures_total",
     Family::counter,
     "Records that could not be sent to their destination.",
     [](const Function& f) { return f.destination_failures.value(); }},
    {"redrive_function_dead_letter_failures_total",
     Family::counter,
     "Events that could not be sent to the function's dead-letter queue.",
     [](const Function& f) { return f.dead_letter_failures.value(); }},
};

using Mapping = metrics::MappingMetrics;
constexpr NamedFamily<Mapping> kMappingFamilies[] = {
    {"redrive_mapping_polled_total",
     Family::counter,
     "Messages polled from the queue.",
     [](const Mapping& m) { return m.polled.value(); }},
    {"redrive_mapping_filtered_total",
     Family::counter,
     "Messages that matched no filter.",
     [](const Mapping& m) { return m.filtered.value(); }},
    {"redrive_mapping_invoked_total",
     Family::counter,
     "Messages passed to the function.",
     [](const Mapping& m) { return m.invoked.value(); }},
    {"redrive_mapping_failed_total",
     Family::counter,
     "Messages that the function failed to process.",
     [](const Mapping& m) { return m.failed.value(); }},
    {"redrive_mapping_deleted_total",
     Family::counter,
     "Messages deleted after success.",
     [](const Mapping& m) { return m.deleted.value(); }},
    {"redrive_mapping_dropped_total",
     Family::counter,
     "Messages given up.",
     [](const Mapping& m) { return m.dropped.value(); }},
    {"redrive_mapping_concurrency",
     Family::gauge,
     "Batches in progress.",
     [](const Mapping& m) { return static_cast<std::uint64_t>(m.concurrency.value()); }},
    {"redrive_mapping_concurrency_limit",
     Family::gauge,
     "Limit on concurrent batches; lower after errors.",
     [](const Mapping& m) { return static_cast<std::uint64_t>(m.concurrency_limit.value()); }},
};

// The named metrics that the caller may see.
template <class T>
auto visible(const PageParts& parts, metrics::Scope scope, const metrics::NamedMetrics<T>& named) {
  auto all = named.all();
  std::erase_if(all, [&](const auto& one) { return !sees(parts, scope, one.first); });
  return all;
}

// From arn:aws:lambda:region:account:function:name.
Labels function_labels(std::string_view arn) {
  const auto words = split(arn, ':');
  if (words.size() < 7) return {{"account", ""}, {"region", ""}, {"function", arn}};
  return {{"account", words[4]}, {"region", words[3]}, {"function", words[6]}};
}

Labels mapping_labels(std::string_view id) {
  return {{"mapping", id}};
}

template <class Families, class All>
void write_named(Exposition& out, const Families& families, const All& all,
                 Labels (*labels)(std::string_view)) {
  for (const auto& family : families) {
    out.family(family.name, family.family, family.help);
    for (const auto& [name, recorded] : all) out.sample(labels(name), family.value(*recorded));
  }
}

Labels with_error_type(Labels labels, std::string_view type) {
  labels.emplace_back("type", type);
  return labels;
}

void write_processes(Exposition& out, const metrics::FunctionRegistry& registry) {
  out.family("redrive_function_processes", Family::gauge, "Processes of functions.");
  out.sample({}, static_cast<std::uint64_t>(registry.processes.value()));
  out.family("redrive_function_processes_max", Family::gauge, "Limit on processes of functions.");
  out.sample({}, static_cast<std::uint64_t>(registry.processes_max.value()));
  out.family("redrive_function_process_waits_total",
             Family::counter,
             "Invocations that waited because all processes were in use.");
  out.sample({}, registry.process_waits.value());
}

void write_functions(Exposition& out, const PageParts& parts) {
  const metrics::FunctionRegistry& registry = parts.recorded.functions;
  const auto functions = visible(parts, metrics::Scope::function, registry.functions);
  const auto mappings = visible(parts, metrics::Scope::mapping, registry.mappings);
  write_named(out, kFunctionFamilies, functions, function_labels);
  write_named(out, kMappingFamilies, mappings, mapping_labels);
  write_processes(out, registry);
  out.family("redrive_function_errors_total", Family::counter, "Failed invocations, by type.");
  for (const auto& [name, function] : functions) {
    for (const auto& [type, count] : function->errors_by_type.read()) {
      out.sample(with_error_type(function_labels(name), type), count);
    }
  }
  out.family("redrive_function_duration_seconds", Family::histogram, "Duration of an invocation.");
  for (const auto& [name, function] : functions) {
    out.sample(function_labels(name), function->duration.read(), 1e-3);
  }
  out.family("redrive_mapping_message_age_seconds",
             Family::histogram,
             "Age of messages when their function receives them.");
  for (const auto& [id, mapping] : mappings) {
    out.sample(mapping_labels(id), mapping->age.read(), 1e-3);
  }
  out.family("redrive_function_async_age_seconds",
             Family::histogram,
             "Age of asynchronous events when they run.");
  for (const auto& [name, function] : functions) {
    out.sample(function_labels(name), function->async_age.read(), 1e-3);
  }
}

}  // namespace

std::string metrics_page(const PageParts& parts) {
  Exposition out;
  write_queues(out, parts);
  write_damage(out, parts);
  // Totals over all accounts require the right to see all of them.
  if (sees(parts, metrics::Scope::server, "")) {
    write_actions(out, parts.recorded);
    write_journal(out, parts);
    write_turns(out, parts.engine);
    write_connections(out, parts.sources);
    write_traces(out, parts.sources);
    write_notices(out, parts.sources);
    write_disk(out, parts.sources);
    write_process(out, parts);
  }
  write_functions(out, parts);
  return out.take();
}

}  // namespace redrive::monitor
