#include "aws/cloudwatch/call.h"

namespace redrive::cloudwatch {
namespace {

using auth::Right;

constexpr Action kActions[] = {
    {"GetMetricData", Right::look, true, &get_metric_data},
    {"GetMetricStatistics", Right::look, true, &get_metric_statistics},
    {"ListMetrics", Right::look, true, &list_metrics},
    {"PutMetricAlarm", Right::operate, false, &put_metric_alarm},
    {"DescribeAlarms", Right::look, true, &describe_alarms},
    {"DescribeAlarmsForMetric", Right::look, true, &describe_alarms_for_metric},
    {"DescribeAlarmHistory", Right::look, true, &describe_alarm_history},
    {"SetAlarmState", Right::operate, false, &set_alarm_state},
    {"EnableAlarmActions", Right::operate, false, &enable_alarm_actions},
    {"DisableAlarmActions", Right::operate, false, &disable_alarm_actions},
    {"DeleteAlarms", Right::operate, false, &delete_alarms},
    {"TagResource", Right::operate, true, &tag_resource},
    {"UntagResource", Right::operate, true, &untag_resource},
    {"ListTagsForResource", Right::look, true, &list_tags_for_resource},
};

}  // namespace

std::span<const Action> actions() {
  return kActions;
}

}  // namespace redrive::cloudwatch
