#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "aws/cloudwatch/shapes.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "front/action_table.h"
#include "front/catalogue_access.h"
#include "front/gate.h"
#include "observe/alarms/watcher.h"
#include "observe/metrics/history.h"

namespace redrive::cloudwatch {

using front::Outcome;

// What the actions work on.
struct Parts {
  engine::Engine& engine;
  const front::Gate& gate;
  const metrics::History& history;
  std::function<void()> observe;  // Brings the history up to date.
  alarms::Watcher& watcher;
  std::function<void()> look;  // Evaluates the alarms that are due.
  front::Observers observers = {};
  front::BucketOwner bucket_owner = {};  // Empty: there are no buckets.
  front::Offload offload = {};  // Empty: everything runs on the thread that calls handle().
};

struct Call : front::ActionCall {
  const Parts& parts;
  // Clients see wall time, metrics are kept by engine time: wall = engine time + this.
  Duration wall_ahead{0};
  std::deque<alarms::Alarm> alarms = {};  // Kept until the answer is encoded.
};

Outcome<GetMetricDataOutput> get_metric_data(Call& call, const GetMetricDataInput& input);
Outcome<GetMetricStatisticsOutput> get_metric_statistics(Call& call,
                                                         const GetMetricStatisticsInput& input);
Outcome<ListMetricsOutput> list_metrics(Call& call, const ListMetricsInput& input);
Outcome<void> put_metric_alarm(Call& call, const PutMetricAlarmInput& input);
Outcome<DescribeAlarmsOutput> describe_alarms(Call& call, const DescribeAlarmsInput& input);
Outcome<DescribeAlarmsForMetricOutput> describe_alarms_for_metric(
    Call& call, const DescribeAlarmsForMetricInput& input);
Outcome<DescribeAlarmHistoryOutput> describe_alarm_history(Call& call,
                                                           const DescribeAlarmHistoryInput& input);
Outcome<void> set_alarm_state(Call& call, const SetAlarmStateInput& input);
Outcome<void> enable_alarm_actions(Call& call, const AlarmNamesInput& input);
Outcome<void> disable_alarm_actions(Call& call, const AlarmNamesInput& input);
Outcome<void> delete_alarms(Call& call, const AlarmNamesInput& input);
Outcome<EmptyOutput> tag_resource(Call& call, const TagResourceInput& input);
Outcome<EmptyOutput> untag_resource(Call& call, const UntagResourceInput& input);
Outcome<ListTagsForResourceOutput> list_tags_for_resource(Call& call,
                                                          const ListTagsForResourceInput& input);

// What the audit log records. The request stays out of it: addresses of webhooks are secrets.
front::AuditNote audit_note(const PutMetricAlarmInput& input);
front::AuditNote audit_note(const SetAlarmStateInput& input);
front::AuditNote audit_note(const AlarmNamesInput& input);
front::AuditNote audit_note(const TagResourceInput& input);
front::AuditNote audit_note(const UntagResourceInput& input);

metrics::Dimensions dimensions_of(const DimensionList& list);

}  // namespace redrive::cloudwatch
