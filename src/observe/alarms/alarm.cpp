#include "observe/alarms/alarm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/padded_text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace redrive::alarms {
namespace {

template <class T>
struct Named {
  T value;
  std::string_view name;
};

constexpr Named<AlarmState> kStates[] = {
    {AlarmState::ok, "OK"},
    {AlarmState::alarm, "ALARM"},
    {AlarmState::insufficient_data, "INSUFFICIENT_DATA"},
};
constexpr Named<MissingData> kTreatments[] = {
    {MissingData::missing, "missing"},
    {MissingData::ignore, "ignore"},
    {MissingData::breaching, "breaching"},
    {MissingData::not_breaching, "notBreaching"},
};
constexpr Named<Comparison> kComparisons[] = {
    {Comparison::at_least, "GreaterThanOrEqualToThreshold"},
    {Comparison::above, "GreaterThanThreshold"},
    {Comparison::below, "LessThanThreshold"},
    {Comparison::at_most, "LessThanOrEqualToThreshold"},
};

template <class T, std::size_t size>
std::string_view name_in(const Named<T> (&table)[size], T value) {
  return std::ranges::find(table, value, &Named<T>::value)->name;
}
template <class T, std::size_t size>
std::optional<T> find_in(const Named<T> (&table)[size], std::string_view name) {
  const auto found = std::ranges::find(table, name, &Named<T>::name);
  if (found == std::end(table)) return std::nullopt;
  return found->value;
}

using Texts = std::vector<std::string_view>;
using TextMap = std::vector<std::pair<std::string_view, std::string_view>>;

struct AlarmDocument {
  std::string_view account;
  std::string_view region;
  std::string_view name;
  std::string_view description;
  TextMap dimensions;
  std::string_view space;
  std::string_view metric;
  std::string_view statistic;
  std::string_view unit;
  std::int64_t period = 60;
  std::int64_t periods = 1;
  std::int64_t to_alarm = 1;
  bool to_alarm_given = false;
  double threshold = 0;
  std::string_view comparison;
  std::string_view missing;
  bool missing_given = false;
  bool actions_enabled = true;
  Texts ok_actions;
  Texts alarm_actions;
  Texts insufficient_data_actions;
  TextMap tags;
  std::int64_t configured = 0;
  std::string_view state;
  std::string_view reason;
  std::string_view reason_data;
  std::int64_t updated = 0;
  std::int64_t transitioned = 0;
};
consteval auto shape_of(AlarmDocument*) {
  using D = AlarmDocument;
  return wire::shape(
      wire::required("account", &D::account),
      wire::required("region", &D::region),
      wire::required("name", &D::name),
      wire::optional("description", &D::description),
      wire::optional("dimensions", &D::dimensions).each("dimension"),
      wire::required("namespace", &D::space),
      wire::required("metric", &D::metric),
      wire::required("statistic", &D::statistic),
      wire::optional("unit", &D::unit),
      wire::required("period", &D::period),
      wire::required("periods", &D::periods),
      wire::required("toAlarm", &D::to_alarm),
      wire::optional("toAlarmGiven", &D::to_alarm_given),
      wire::required("threshold", &D::threshold),
      wire::required("comparison", &D::comparison),
      wire::required("missing", &D::missing),
      wire::optional("missingGiven", &D::missing_given),
      wire::required("actionsEnabled", &D::actions_enabled),
      wire::optional("okActions", &D::ok_actions).each("action"),
      wire::optional("alarmActions", &D::alarm_actions).each("action"),
      wire::optional("insufficientDataActions", &D::insufficient_data_actions).each("action"),
      wire::optional("tags", &D::tags).each("tag"),
      wire::required("configured", &D::configured),
      wire::required("state", &D::state),
      wire::optional("reason", &D::reason),
      wire::optional("reasonData", &D::reason_data),
      wire::required("updated", &D::updated),
      wire::required("transitioned", &D::transitioned));
}

template <class Pairs>
TextMap views_of(const Pairs& pairs) {
  TextMap views;
  for (const auto& [key, value] : pairs) views.emplace_back(key, value);
  return views;
}

std::vector<std::string> owned(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

std::string_view name_of(AlarmState state) {
  return name_in(kStates, state);
}
std::string_view name_of(MissingData treatment) {
  return name_in(kTreatments, treatment);
}
std::string_view name_of(Comparison comparison) {
  return name_in(kComparisons, comparison);
}
std::optional<AlarmState> parse_state(std::string_view name) {
  return find_in(kStates, name);
}
std::optional<MissingData> parse_missing(std::string_view name) {
  return find_in(kTreatments, name);
}
std::optional<Comparison> parse_comparison(std::string_view name) {
  return find_in(kComparisons, name);
}

bool Rule::breaches(double value) const {
  switch (comparison) {
    case Comparison::at_least:
      return value >= threshold;
    case Comparison::above:
      return value > threshold;
    case Comparison::below:
      return value < threshold;
    case Comparison::at_most:
      return value <= threshold;
  }
  return false;
}

std::string Alarm::arn() const {
  return fmt::format("arn:aws:cloudwatch:{}:{}:alarm:{}", region, account, name);
}

metrics::CloudLine Alarm::line() const {
  return {.account = account,
          .region = region,
          .space = space,
          .name = metric,
          .dimensions = dimensions};
}

const std::vector<std::string>& Alarm::actions_for(AlarmState state) const {
  switch (state) {
    case AlarmState::ok:
      return ok_actions;
    case AlarmState::alarm:
      return alarm_actions;
    case AlarmState::insufficient_data:
      return insufficient_data_actions;
  }
  return alarm_actions;
}

std::string encode(const Alarm& alarm) {
  const AlarmDocument document{
      .account = alarm.account,
      .region = alarm.region,
      .name = alarm.name,
      .description = alarm.description,
      .dimensions = views_of(alarm.dimensions),
      .space = alarm.space,
      .metric = alarm.metric,
      .statistic = alarm.statistic,
      .unit = alarm.unit,
      .period = alarm.period.count(),
      .periods = alarm.rule.periods,
      .to_alarm = alarm.rule.to_alarm,
      .to_alarm_given = alarm.to_alarm_given,
      .threshold = alarm.rule.threshold,
      .comparison = name_of(alarm.rule.comparison),
      .missing = name_of(alarm.rule.missing),
      .missing_given = alarm.missing_given,
      .actions_enabled = alarm.actions_enabled,
      .ok_actions = Texts(alarm.ok_actions.begin(), alarm.ok_actions.end()),
      .alarm_actions = Texts(alarm.alarm_actions.begin(), alarm.alarm_actions.end()),
      .insufficient_data_actions =
          Texts(alarm.insufficient_data_actions.begin(), alarm.insufficient_data_actions.end()),
      .tags = views_of(alarm.tags),
      .configured = alarm.configured.ms(),
      .state = name_of(alarm.condition.state),
      .reason = alarm.condition.reason,
      .reason_data = alarm.condition.reason_data,
      .updated = alarm.condition.updated.ms(),
      .transitioned = alarm.condition.transitioned.ms()};
  std::string out;
  wire::encode_json(out, document);
  return out;
}

Result<Alarm> decode_alarm(std::string_view json) {
  const PaddedText padded(json);
  wire::Decoder decoder;
  AlarmDocument document;
  RETURN_IF_ERROR(wire::decode_json(decoder, padded, document));
  const auto state = parse_state(document.state);
  const auto missing = parse_missing(document.missing);
  const auto comparison = parse_comparison(document.comparison);
  if (!state || !missing || !comparison || document.period < 1 || document.periods < 1) {
    return fail(ErrorCode::storage_damaged, "an alarm in the catalogue cannot be read");
  }
  Alarm alarm{.account = std::string(document.account),
              .region = std::string(document.region),
              .name = std::string(document.name),
              .description = std::string(document.description),
              .dimensions = {},
              .space = std::string(document.space),
              .metric = std::string(document.metric),
              .statistic = std::string(document.statistic),
              .unit = std::string(document.unit),
              .period = std::chrono::seconds(document.period),
              .rule = {.periods = static_cast<std::uint32_t>(document.periods),
                       .to_alarm = static_cast<std::uint32_t>(document.to_alarm),
                       .threshold = document.threshold,
                       .comparison = *comparison,
                       .missing = *missing},
              .to_alarm_given = document.to_alarm_given,
              .missing_given = document.missing_given,
              .actions_enabled = document.actions_enabled,
              .ok_actions = owned(document.ok_actions),
              .alarm_actions = owned(document.alarm_actions),
              .insufficient_data_actions = owned(document.insufficient_data_actions),
              .tags = {},
              .configured = Timestamp(document.configured),
              .condition = {.state = *state,
                            .reason = std::string(document.reason),
                            .reason_data = std::string(document.reason_data),
                            .updated = Timestamp(document.updated),
                            .transitioned = Timestamp(document.transitioned)}};
  for (const auto& [key, value] : document.dimensions) alarm.dimensions.emplace_back(key, value);
  for (const auto& [key, value] : document.tags) alarm.tags.emplace(key, value);
  return alarm;
}

std::string entry_name(std::string_view account, std::string_view region, std::string_view name) {
  return fmt::format("{}/{}/{}", account, region, name);
}

}  // namespace redrive::alarms
