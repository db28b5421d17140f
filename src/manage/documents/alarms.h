#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

// Alarms in the management API.

namespace redrive::documents {

// A target of notifications, and the outcome of the latest one.
struct AlarmTarget {
  std::string_view target;  // Secrets in it masked.
  // queued, failing, delivered, given-up, superseded; unused: there was no notice for it yet;
  // unreachable: it cannot be notified, see error.
  std::string_view state;
  std::string_view notice;  // Its title.
  bool waiting = false;     // An attempt follows.
  std::string_view error;   // Of the last attempt.
  std::string_view status;  // What the target answered: "HTTP 204".
  std::string_view at;      // Time of the last attempt or change.
  std::optional<std::int32_t> attempts;
  std::string_view next_try;
};
consteval auto shape_of(AlarmTarget*) {
  using D = AlarmTarget;
  return wire::shape(wire::required("target", &D::target),
                     wire::required("state", &D::state),
                     wire::optional("notice", &D::notice).sensitive(),
                     wire::required("waiting", &D::waiting),
                     wire::optional("error", &D::error).sensitive(),
                     wire::optional("status", &D::status).sensitive(),
                     wire::optional("at", &D::at),
                     wire::optional("attempts", &D::attempts),
                     wire::optional("nextTry", &D::next_try));
}

struct AlarmLine {
  std::string_view name;
  std::string_view kind;  // dead-letters, damage: automatic, one for each queue; metric: created by
                          // a request. Damage: also for events of functions.
  std::string_view state;
  std::string_view queue;                    // The one it watches, if any.
  std::optional<std::string_view> function;  // The same for events of asynchronous invocations.
  std::string_view reason;
  std::string_view since;
  bool on = true;  // Whether its targets are notified.
  std::vector<AlarmTarget> targets;
};
consteval auto shape_of(AlarmLine*) {
  using D = AlarmLine;
  return wire::shape(wire::required("name", &D::name),
                     wire::required("kind", &D::kind),
                     wire::required("state", &D::state),
                     wire::optional("queue", &D::queue),
                     wire::optional("function", &D::function),
                     wire::optional("reason", &D::reason).sensitive(),
                     wire::optional("since", &D::since),
                     wire::required("on", &D::on),
                     wire::optional("targets", &D::targets).each("target").always());
}

struct AlarmList {
  std::vector<AlarmLine> alarms;
};
consteval auto shape_of(AlarmList*) {
  return wire::shape(wire::optional("alarms", &AlarmList::alarms).each("alarm").always());
}

struct AlarmEvent {
  std::string_view time;
  std::string_view kind;
  std::string_view summary;
  std::optional<AlarmTarget> delivery;  // Of a notice.
};
consteval auto shape_of(AlarmEvent*) {
  using D = AlarmEvent;
  return wire::shape(wire::required("time", &D::time),
                     wire::required("kind", &D::kind),
                     wire::required("summary", &D::summary).sensitive(),
                     wire::optional("delivery", &D::delivery));
}

struct AlarmEvents {
  std::vector<AlarmEvent> events;
};
consteval auto shape_of(AlarmEvents*) {
  return wire::shape(wire::optional("events", &AlarmEvents::events).each("event").always());
}

// An alarm about one metric of a queue.
struct NewAlarm {
  std::string_view name;
  std::string_view queue;
  std::string_view metric;
  std::optional<std::string_view> statistic;   // Default: Maximum.
  std::optional<std::string_view> comparison;  // >, >=, <, <=
  double threshold = 0;
  std::optional<std::int32_t> period_seconds;
  std::optional<std::int32_t> periods;
  std::vector<std::string_view> notify;  // Notified when the alarm starts and when it ends.
};
consteval auto shape_of(NewAlarm*) {
  using D = NewAlarm;
  return wire::shape(wire::required("name", &D::name).filled(),
                     wire::required("queue", &D::queue).filled(),
                     wire::required("metric", &D::metric).filled(),
                     wire::optional("statistic", &D::statistic),
                     wire::optional("comparison", &D::comparison),
                     wire::required("threshold", &D::threshold),
                     wire::optional("periodSeconds", &D::period_seconds),
                     wire::optional("periods", &D::periods),
                     wire::optional("notify", &D::notify).each("target"));
}

struct AlarmSwitch {
  bool on = true;
};
consteval auto shape_of(AlarmSwitch*) {
  return wire::shape(wire::required("on", &AlarmSwitch::on));
}

struct AlarmTargets {
  std::vector<AlarmTarget> targets;
};
consteval auto shape_of(AlarmTargets*) {
  return wire::shape(wire::optional("targets", &AlarmTargets::targets).each("target").always());
}

}  // namespace redrive::documents
