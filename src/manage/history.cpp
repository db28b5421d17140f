// Metrics of the past, for charts.

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/text.h"
#include "front/catalogue_access.h"
#include "manage/operations.h"
#include "observe/metrics/catalogue.h"
#include "observe/metrics/cloud_metrics.h"

namespace redrive::manage {
namespace {

constexpr std::int64_t kPointsMax = 5'000;
constexpr std::size_t kSeriesMax = 200;
constexpr std::int64_t kPointsInAllMax = 200'000;

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

// A time as text, as seconds since 1970, or, if negative, as seconds before now.
Result<Timestamp> moment(const Call& call, std::string_view name, Timestamp now,
                         Timestamp otherwise) {
  const std::string text = call.query(name);
  if (text.empty()) return otherwise;
  if (const auto utc = parse_utc(text)) return *utc;
  const auto seconds = parse_int<std::int64_t>(text);
  if (!seconds || std::abs(*seconds) > kCalendarEnd.seconds()) {
    return wrong(
        fmt::format("`{}` must be a time such as 2026-01-01T00:00:00Z, seconds since 1970, or a "
                    "negative number of seconds relative to now.",
                    name));
  }
  return *seconds < 0 ? now + std::chrono::seconds(*seconds) : Timestamp(*seconds * 1000);
}

struct HistoryQuery {
  metrics::Subject subject;
  std::size_t metric = 0;
};

// The subject of a series: a queue, a function, a mapping, or the server.
Result<HistoryQuery> history_query(const Call& call, const documents::SeriesQuery& series) {
  HistoryQuery query;
  if (!series.queue.empty()) {
    query.subject = {metrics::Scope::queue, TRY(call.identity_called(series.queue)).arn()};
  } else if (!series.function.empty()) {
    query.subject = {metrics::Scope::function,
                     metrics::subject_name(metrics::Scope::function,
                                           call.caller.account,
                                           call.caller.region,
                                           std::string(series.function))};
  } else if (!series.mapping.empty()) {
    query.subject = {metrics::Scope::mapping, std::string(series.mapping)};
  }
  const auto metric = metrics::find_metric(query.subject.scope, series.metric);
  if (!metric) {
    std::string names;
    for (const metrics::Metric& known : metrics::metrics_of(query.subject.scope)) {
      fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", known.name);
    }
    return wrong(fmt::format("`metric` must be one of {}.", names));
  }
  query.metric = *metric;
  RETURN_IF_ERROR(front::authorize_metrics(
      call.parts.engine, call.parts.gate, call.caller, call.operation(), query.subject));
  return query;
}

// The points of a chart: whole steps of the engine's time, which is `ahead` behind the wall's.
struct Window {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 0;
  Duration ahead{};

  std::int64_t points() const { return (end - begin) / step; }
  std::int64_t from() const { return (Timestamp(begin * 1000) + ahead).seconds(); }
};

Result<Window> window_of(const queue::Stamp& stamp, Timestamp from, Timestamp to,
                         std::int64_t step) {
  if (from >= to) return wrong("`from` must be before `to`.");
  const Duration ahead = stamp.wall - stamp.now;
  const Window window{.begin = (from - ahead).seconds() / step * step,
                      .end = ((to - ahead).seconds() / step + 1) * step,
                      .step = step,
                      .ahead = ahead};
  if (window.points() <= kPointsMax) return window;
  return wrong(fmt::format("A series can have at most {} points.", kPointsMax));
}

Result<queue::Stamp> observe(const Call& call) {
  if (call.parts.history == nullptr) {
    return fail(ErrorCode::unsupported_operation, "This server has no history of metrics.");
  }
  call.parts.observe();
  return call.parts.engine.turn([](engine::Turn& turn) { return turn.stamp(); });
}

std::string points_text(metrics::Nature nature,
                        const std::vector<std::optional<metrics::Bucket>>& buckets) {
  std::string out;
  for (const auto& bucket : buckets) {
    if (!out.empty()) out += ',';
    if (!bucket) {
      out += "null";
      continue;
    }
    const std::int64_t value = nature == metrics::Nature::counter  ? bucket->sum
                               : nature == metrics::Nature::lowest ? bucket->min
                                                                   : bucket->max;
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  return out;
}

const metrics::Metric& metric_of(const HistoryQuery& query) {
  return metrics::metrics_of(query.subject.scope)[query.metric];
}

std::string values_text(const Call& call, const HistoryQuery& query, const Window& window) {
  return points_text(metric_of(query).nature,
                     call.parts.history->read(query.subject,
                                              query.metric,
                                              Timestamp(window.begin * 1000),
                                              Timestamp(window.end * 1000),
                                              std::chrono::seconds(window.step)));
}

std::string series_text(const documents::SeriesQuery& series, std::string_view values) {
  std::string out;
  wire::encode_json(out, series);
  out.pop_back();
  return fmt::format(R"({}{}"values":[{}]}})", out, out.size() > 1 ? "," : "", values);
}

}  // namespace

Result<Document> show_history(Call& call) {
  const queue::Stamp stamp = TRY(observe(call));
  const std::string queue = call.query("queue");
  const std::string function = call.query("function");
  const std::string mapping = call.query("mapping");
  const std::string metric = call.query("metric");
  const HistoryQuery query = TRY(history_query(
      call, {.queue = queue, .function = function, .mapping = mapping, .metric = metric}));
  const Timestamp to = TRY(moment(call, "to", stamp.wall, stamp.wall + Duration(1)));
  const Timestamp from = TRY(moment(call, "from", stamp.wall, to - std::chrono::hours(1)));
  const auto step = static_cast<std::int64_t>(TRY(call.query_number("step", 60, 86'400)));
  const Window window = TRY(window_of(stamp, from, to, step));
  return Document{.body = fmt::format(R"({{"metric":"{}","from":{},"step":{},"values":[{}]}})",
                                      metric_of(query).name,
                                      window.from(),
                                      step,
                                      values_text(call, query, window))};
}

Result<Document> query_metrics(Call& call) {
  documents::MetricsQuery input;
  RETURN_IF_ERROR(wire::decode_json(call.decoder(), call.request.padded_body(), input));
  if (input.series.size() > kSeriesMax) {
    return wrong(fmt::format("`series` can have at most {} entries.", kSeriesMax));
  }
  const queue::Stamp stamp = TRY(observe(call));
  const Window window = TRY(window_of(
      stamp, Timestamp(input.from * 1000), Timestamp(input.to * 1000), input.step.value_or(60)));
  if (window.points() * std::ssize(input.series) > kPointsInAllMax) {
    return wrong(fmt::format("A request can return at most {} points.", kPointsInAllMax));
  }
  std::string series;
  for (const documents::SeriesQuery& one : input.series) {
    const HistoryQuery query = TRY(history_query(call, one));
    if (!series.empty()) series += ',';
    series += series_text(one, values_text(call, query, window));
  }
  return Document{
      .body = fmt::format(
          R"({{"from":{},"step":{},"series":[{}]}})", window.from(), window.step, series)};
}

}  // namespace redrive::manage
