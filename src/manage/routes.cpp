#include "manage/routes.h"

#include "manage/operations.h"

namespace redrive::manage {
namespace {

using auth::Right;

constexpr Route kRoutes[] = {
    {"GET", "/_redrive/v1/clock", Right::find, &as_json<show_clock>},
    {"POST", "/_redrive/v1/clock/advance", Right::administer, &as_json<advance_clock>},
    {"GET", "/_redrive/v1/logs", Right::administer, &as_json<read_log>},
    {"POST", "/_redrive/v1/reset", Right::administer, &as_json<reset>},
    {"GET", "/_redrive/v1/queues/{queue}/messages", Right::look, &as_json<peek_messages>},
    {"GET", "/_redrive/v1/queues/{queue}/messages/{message}", Right::look, &as_json<show_message>},
    {"POST",
     "/_redrive/v1/queues/{queue}/messages/{message}/edit",
     Right::operate,
     &as_json<edit_message>},
    {"POST", "/_redrive/v1/queues/{queue}/moves", Right::consume, &as_json<move_messages>},
    {"GET", "/_redrive/v1/lineage/{id}", Right::look, &as_json<show_lineage>},
    {"POST", "/_redrive/v1/queues/{queue}/lineages", Right::consume, &as_json<look_at_held>},
    {"POST", "/_redrive/v1/queues/{queue}/archived", Right::consume, &as_json<note_archived>},
    {"POST", "/_redrive/v1/queues/{queue}/unarchive", Right::operate, &as_json<unarchive_messages>},
    {"POST", "/_redrive/v1/queues/{queue}/discard", Right::operate, &as_json<discard_messages>},
    {"GET", "/_redrive/v1/queues/{queue}/bin", Right::look, &as_json<peek_bin>},
    {"POST", "/_redrive/v1/queues/{queue}/restore", Right::operate, &as_json<restore_messages>},
    {"POST", "/_redrive/v1/queues/{queue}/purge", Right::operate, &as_json<purge_queue>},
    {"POST", "/_redrive/v1/failures", Right::consume, &as_json<report_failure>},
    {"GET", "/_redrive/v1/queues/{queue}/groups", Right::look, &as_json<list_groups>},
    {"GET", "/_redrive/v1/queues/{queue}/groups/{group}", Right::look, &as_json<show_group>},
    {"POST", "/_redrive/v1/queues/{queue}/groups/{group}", Right::operate, &as_json<mark_group>},
    {"GET", "/_redrive/v1/queues/{queue}/policy", Right::look, &as_json<show_policy>},
    {"PUT", "/_redrive/v1/queues/{queue}/policy", Right::operate, &as_json<set_policy>},
    {"DELETE", "/_redrive/v1/queues/{queue}/policy", Right::operate, &as_json<remove_policy>},
    {"POST", "/_redrive/v1/queues/{queue}/jobs", Right::operate, &as_json<start_job>},
    {"GET", "/_redrive/v1/jobs", Right::look, &as_json<list_jobs>},
    {"GET", "/_redrive/v1/jobs/{job}", Right::look, &as_json<show_job>},
    {"POST", "/_redrive/v1/jobs/{job}/pause", Right::operate, &as_json<pause_job>},
    {"POST", "/_redrive/v1/jobs/{job}/resume", Right::operate, &as_json<resume_job>},
    {"POST", "/_redrive/v1/jobs/{job}/cancel", Right::operate, &as_json<cancel_job>},
    {"POST", "/_redrive/v1/jobs/{job}/rate", Right::operate, &as_json<change_job_rate>},
    {"GET", "/_redrive/v1/overview", Right::look, &as_json<show_overview>},
    {"GET", "/_redrive/v1/alarms", Right::look, &as_json<list_alarms>},
    {"POST", "/_redrive/v1/alarms", Right::operate, &as_json<add_alarm>},
    {"GET", "/_redrive/v1/alarms/targets", Right::look, &as_json<list_alarm_targets>},
    {"POST", "/_redrive/v1/alarms/test", Right::operate, &as_json<test_alarm_targets>},
    {"DELETE", "/_redrive/v1/alarms/{alarm}", Right::operate, &as_json<remove_alarm>},
    {"GET", "/_redrive/v1/alarms/{alarm}/history", Right::look, &as_json<show_alarm_history>},
    {"PUT", "/_redrive/v1/queues/{queue}/alarm", Right::operate, &as_json<switch_alarm>},
    {"GET", "/_redrive/v1/metrics/history", Right::look, &show_history},
    {"GET", "/_redrive/v1/openapi.yaml", Right::find, &show_openapi},
};

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

}  // namespace redrive::manage
