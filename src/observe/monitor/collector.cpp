#include "observe/monitor/collector.h"

#include <algorithm>
#include <utility>

namespace redrive::monitor {
namespace {

using metrics::FunctionMetric;
using metrics::History;
using metrics::MappingMetric;
using metrics::Point;
using metrics::QueueMetric;
using metrics::Scope;
using metrics::ServerMetric;
using metrics::Subject;

// A longer pause between two samples counts as downtime.
constexpr Duration kAwayAfter = std::chrono::seconds(15);

std::int64_t as_point(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

// Increase of a counter since the last sample. A smaller value means that it was reset.
Point growth(std::vector<std::uint64_t>& sums, std::size_t metric, std::uint64_t sum) {
  if (sums.size() <= metric) sums.resize(metric + 1);
  const std::uint64_t before = std::exchange(sums[metric], sum);
  return as_point(sum >= before ? sum - before : sum);
}

void write_values(const QueueReading& reading, std::vector<std::uint64_t>& sums,
                  std::vector<Point>& values) {
  values.assign(metrics::kQueueMetrics, std::nullopt);
  const auto set = [&](QueueMetric metric, std::uint64_t value) {
    values[metrics::index(metric)] = as_point(value);
  };
  const auto grow = [&](QueueMetric metric, std::uint64_t sum) {
    values[metrics::index(metric)] = growth(sums, metrics::index(metric), sum);
  };
  const queue::Traffic& traffic = reading.traffic;
  set(QueueMetric::visible, reading.visible);
  set(QueueMetric::not_visible, reading.not_visible);
  set(QueueMetric::delayed, reading.delayed);
  set(QueueMetric::oldest_age, static_cast<std::uint64_t>(reading.oldest_age.count() / 1000));
  set(QueueMetric::groups_in_flight, reading.groups_in_flight);
  if (reading.fair) {
    set(QueueMetric::noisy_groups, reading.fair->noisy_groups);
    set(QueueMetric::visible_quiet, reading.fair->visible);
    set(QueueMetric::not_visible_quiet, reading.fair->not_visible);
    set(QueueMetric::delayed_quiet, reading.fair->delayed);
    set(QueueMetric::oldest_age_quiet,
        static_cast<std::uint64_t>(reading.fair->oldest_age.count() / 1000));
  }
  grow(QueueMetric::sent, traffic.sent);
  grow(QueueMetric::received, traffic.received);
  grow(QueueMetric::deleted, traffic.deleted);
  grow(QueueMetric::empty_receives, traffic.empty_receives);
  grow(QueueMetric::deduplicated, traffic.deduplicated);
  grow(QueueMetric::sent_bytes, traffic.sent_bytes);
  grow(QueueMetric::dead_lettered, traffic.dead_lettered);
  grow(QueueMetric::dead_lettered_away, traffic.dead_lettered_away);
  grow(QueueMetric::redriven, traffic.redriven);
  grow(QueueMetric::failed_again, traffic.failed_again);
  grow(QueueMetric::expired, traffic.expired);
  if (values[metrics::index(QueueMetric::sent)] != Point(0)) {
    set(QueueMetric::sent_bytes_min, traffic.sent_bytes_min);
    set(QueueMetric::sent_bytes_max, traffic.sent_bytes_max);
  }
}

}  // namespace

History::Between Collector::between(Timestamp now) const {
  const bool there = last_ != Timestamp() && (parts_.virtual_time || now - last_ < kAwayAfter);
  return there ? History::Between::nothing : History::Between::unknown;
}

void Collector::observe_queues(Timestamp now) {
  std::vector<Point> values;
  for (const QueueReading& reading : read_queues(parts_.engine, Extremes::reset)) {
    WatchedQueue& own = queues_[reading.key];
    if (own.subject.name.empty()) own.subject = {Scope::queue, reading.identity.arn()};
    own.seen_at = now;
    write_values(reading, own.sums, values);
    if (reading.active) parts_.history.record(own.subject, now, values, between(now));
  }
  std::erase_if(queues_, [now](const auto& queue) { return queue.second.seen_at != now; });
}

void Collector::observe_functions(Timestamp now) {
  for (const auto& [name, function] : parts_.recorded.functions.functions.all()) {
    const Subject subject{Scope::function, name};
    std::vector<Point> values(metrics::kFunctionMetrics);
    const auto grow = [&](FunctionMetric metric, std::uint64_t sum) REQUIRES(mutex_) {
      values[metrics::index(metric)] = growth(sums_[subject], metrics::index(metric), sum);
    };
    const metrics::Distribution ages = function->async_age.read();
    grow(FunctionMetric::invocations, function->invocations.value());
    grow(FunctionMetric::errors, function->errors.value());
    grow(FunctionMetric::throttles, function->throttles.value());
    grow(FunctionMetric::duration, function->duration.read().sum);
    grow(FunctionMetric::async_received, function->async_received.value());
    grow(FunctionMetric::async_dropped, function->async_dropped.value());
    grow(FunctionMetric::async_age, ages.sum);
    grow(FunctionMetric::async_started, ages.total());
    grow(FunctionMetric::destination_failures, function->destination_failures.value());
    grow(FunctionMetric::dead_letter_failures, function->dead_letter_failures.value());
    values[metrics::index(FunctionMetric::concurrency)] = function->concurrency.value();
    const std::uint64_t longest = function->duration_max.take();
    if (longest > 0) values[metrics::index(FunctionMetric::duration_max)] = as_point(longest);
    parts_.history.record(subject, now, values, between(now));
  }
}

void Collector::observe_mappings(Timestamp now) {
  for (const auto& [id, mapping] : parts_.recorded.functions.mappings.all()) {
    const Subject subject{Scope::mapping, id};
    std::vector<Point> values(metrics::kMappingMetrics);
    const auto grow = [&](MappingMetric metric, const metrics::Counter& counter) REQUIRES(mutex_) {
      values[metrics::index(metric)] =
          growth(sums_[subject], metrics::index(metric), counter.value());
    };
    grow(MappingMetric::polled, mapping->polled);
    grow(MappingMetric::filtered, mapping->filtered);
    grow(MappingMetric::invoked, mapping->invoked);
    grow(MappingMetric::failed, mapping->failed);
    grow(MappingMetric::deleted, mapping->deleted);
    grow(MappingMetric::dropped, mapping->dropped);
    grow(MappingMetric::sent_on_failure, mapping->sent_on_failure);
    values[metrics::index(MappingMetric::concurrency)] = mapping->concurrency.value();
    parts_.history.record(subject, now, values, between(now));
  }
}

void Collector::observe_server(Timestamp now) {
  const Subject subject{Scope::server, {}};
  std::vector<Point> values(metrics::kServerMetrics);
  const auto grow = [&](ServerMetric metric, std::uint64_t sum) REQUIRES(mutex_) {
    values[metrics::index(metric)] = growth(sums_[subject], metrics::index(metric), sum);
  };
  std::uint64_t requests = 0;
  std::uint64_t errors = 0;
  for (const auto& api : parts_.recorded.apis) {
    for (std::size_t i = 0; i < api->size(); ++i) {
      requests += api->read_latency(i).total();
      errors += api->errors(i);
    }
  }
  const metrics::Distribution syncs = parts_.recorded.sync_micros.read();
  const ProcessReading process = read_process();
  grow(ServerMetric::requests, requests);
  grow(ServerMetric::errors, errors);
  grow(ServerMetric::syncs, syncs.total());
  grow(ServerMetric::sync_micros, syncs.sum);
  const auto& sources = parts_.sources;
  grow(ServerMetric::journal_bytes, sources.journal ? sources.journal().bytes_appended : 0);
  grow(ServerMetric::cpu_millis, static_cast<std::uint64_t>(process.cpu_seconds * 1000));
  values[metrics::index(ServerMetric::connections)] =
      sources.connections ? as_point(sources.connections()) : 0;
  values[metrics::index(ServerMetric::resident_bytes)] = as_point(process.resident_bytes);
  parts_.history.record(subject, now, values, between(now));
}

void Collector::observe() {
  const MutexLock lock(mutex_);
  const Timestamp now = parts_.engine.now();
  if (now.seconds() <= last_.seconds()) return;
  observe_queues(now);
  observe_functions(now);
  observe_mappings(now);
  observe_server(now);
  parts_.history.complete_minutes(now);
  last_ = now;
}

}  // namespace redrive::monitor
