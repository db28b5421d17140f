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

// The subject of the query: a queue, a function, a mapping, or the server.
Result<HistoryQuery> history_query(const Call& call) {
  HistoryQuery query;
  if (const std::string queue = call.query("queue"); !queue.empty()) {
    query.subject = {metrics::Scope::queue, TRY(call.identity_called(queue)).arn()};
  } else if (const std::string function = call.query("function"); !function.empty()) {
    query.subject = {
        metrics::Scope::function,
        metrics::subject_name(
            metrics::Scope::function, call.caller.account, call.caller.region, function)};
  } else if (const std::string mapping = call.query("mapping"); !mapping.empty()) {
    query.subject = {metrics::Scope::mapping, mapping};
  }
  const auto metric = metrics::find_metric(query.subject.scope, call.query("metric"));
  if (!metric) {
    std::string names;
    for (const metrics::Metric& known : metrics::metrics_of(query.subject.scope)) {
      fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", known.name);
    }
    return wrong(fmt::format("`metric` must be one of {}.", names));
  }
  query.metric = *metric;
  return query;
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

}  // namespace

Result<Document> show_history(Call& call) {
  if (call.parts.history == nullptr) {
    return fail(ErrorCode::unsupported_operation, "This server has no history of metrics.");
  }
  const HistoryQuery query = TRY(history_query(call));
  RETURN_IF_ERROR(front::authorize_metrics(
      call.parts.engine, call.parts.gate, call.caller, call.operation(), query.subject));
  call.parts.observe();
  const queue::Stamp stamp =
      call.parts.engine.turn([](engine::Turn& turn) { return turn.stamp(); });
  const Timestamp to = TRY(moment(call, "to", stamp.wall, stamp.wall + Duration(1)));
  const Timestamp from = TRY(moment(call, "from", stamp.wall, to - std::chrono::hours(1)));
  const auto step = static_cast<std::int64_t>(TRY(call.query_number("step", 60, 86'400)));
  if (from >= to) return wrong("`from` must be before `to`.");
  const Duration ahead = stamp.wall - stamp.now;
  const std::int64_t begin = (from - ahead).seconds() / step * step;
  const std::int64_t end = ((to - ahead).seconds() / step + 1) * step;
  if ((end - begin) / step > kPointsMax) {
    return wrong(fmt::format("A request can return at most {} points.", kPointsMax));
  }
  const auto buckets = call.parts.history->read(query.subject,
                                                query.metric,
                                                Timestamp(begin * 1000),
                                                Timestamp(end * 1000),
                                                std::chrono::seconds(step));
  const metrics::Metric& metric = metrics::metrics_of(query.subject.scope)[query.metric];
  return Document{.body = fmt::format(R"({{"metric":"{}","from":{},"step":{},"values":[{}]}})",
                                      metric.name,
                                      (Timestamp(begin * 1000) + ahead).seconds(),
                                      step,
                                      points_text(metric.nature, buckets))};
}

}  // namespace redrive::manage
