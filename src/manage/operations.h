#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/store/message_codec.h"
#include "manage/call.h"
#include "manage/documents/alarms.h"
#include "manage/documents/corrections.h"
#include "manage/documents/damage.h"
#include "manage/documents/failures.h"
#include "manage/documents/find.h"
#include "manage/documents/jobs.h"
#include "manage/documents/key_files.h"
#include "manage/documents/lineage.h"
#include "manage/documents/logs.h"
#include "manage/documents/message_page.h"
#include "manage/documents/metrics.h"
#include "manage/documents/moves.h"
#include "manage/documents/overview.h"
#include "manage/documents/policy.h"
#include "manage/documents/session.h"
#include "net/wire/shape.h"

// The operations of the management API with their input and output documents. routes.cpp has their
// paths, docs/openapi.yaml their description.

namespace redrive::manage {

struct ClockView {
  bool is_virtual = false;
  std::string_view now;  // 2026-01-31T23:59:59.000Z
  std::int64_t epoch_milliseconds = 0;
  std::int64_t waiting_receives = 0;  // A test that moves time can see that its consumer waits.
  std::int64_t held_seconds = 0;      // Downtime that is not counted yet.
};
consteval auto shape_of(ClockView*) {
  using Out = ClockView;
  return wire::shape(wire::required("virtual", &Out::is_virtual),
                     wire::required("now", &Out::now),
                     wire::required("epochMilliseconds", &Out::epoch_milliseconds),
                     wire::required("waitingReceives", &Out::waiting_receives),
                     wire::required("heldSeconds", &Out::held_seconds));
}

// Exactly one of the two.
struct AdvanceClockInput {
  std::optional<double> seconds;
  std::optional<double> milliseconds;
};
consteval auto shape_of(AdvanceClockInput*) {
  using In = AdvanceClockInput;
  return wire::shape(wire::optional("seconds", &In::seconds),
                     wire::optional("milliseconds", &In::milliseconds));
}

struct ResetOutput {
  std::int64_t queues = 0;              // How many there were.
  std::optional<std::int64_t> buckets;  // The same, if there were any.
};
consteval auto shape_of(ResetOutput*) {
  return wire::shape(wire::required("queues", &ResetOutput::queues),
                     wire::optional("buckets", &ResetOutput::buckets));
}

// The session of the web console: docs/console.md.
Result<documents::SessionView> show_session(Call& call);
Result<Document> sign_in(Call& call);
Result<Document> sign_out(Call& call);
Result<documents::SignInLink> make_sign_in_link(Call& call);

// GET audit?after=…&who=…&action=…&resource=…&limit=…
Result<Document> read_audit(Call& call);
// GET exposed-key-files
Result<documents::ExposedKeyFiles> list_exposed_key_files(Call& call);
// GET logs?after=…&limit=…
Result<documents::ServerLogPage> read_log(Call& call);

// GET queues/{queue}/messages?limit=100&after=…&filter=…&order=…&state=…&group=…
Result<documents::MessagePage> peek_messages(Call& call);
// The same, or with view=summary a MessageSummaryPage.
Result<Document> peek_view(Call& call);

Result<documents::Message> show_message(Call& call);
Result<documents::SpentHandle> show_spent_handle(Call& call);
// The attributes of a stored message as SQS writes them; views of it.
sqs::MessageAttributes attributes_of(const store::MessageContents& contents);
// Describes a message that was peeked. Views `stored`, which must live as long as the call.
documents::Message describe_peeked(Call& call, const dead_letters::Peeked& peeked,
                                   const store::StoredMessage& stored, Timestamp wall);
// One message in its present state.
Result<documents::Message> describe_message(Call& call, const queue::QueueIdentity& queue,
                                            queue::MessageKey key);
// The stored bytes of an edited message, validated like a send.
Result<std::string> edited(const store::StoredMessage& stored, const documents::EditRequest& input,
                           const queue::QueueSettings& settings);
Result<documents::Message> edit_message(Call& call, const documents::EditRequest& input);
Result<documents::MoveResults> move_messages(Call& call, const documents::MoveRequest& input);
// GET lineage/{id}
Result<documents::LineageView> show_lineage(Call& call);
Result<documents::HeldLineages> look_at_held(Call& call, const documents::HandleList& input);
Result<documents::ArchivedResults> note_archived(Call& call,
                                                 const documents::ArchivedRequest& input);
Result<documents::UnarchiveResults> unarchive_messages(Call& call,
                                                       const documents::UnarchiveRequest& input);
Result<documents::Touched> note_tried(Call& call, const documents::TriedRequest& input);
Result<documents::Touched> discard_messages(Call& call, const documents::Choice& input);
Result<documents::MessagePage> peek_bin(Call& call);
Result<documents::Touched> restore_messages(Call& call, const documents::Choice& input);
// A place among messages as the `next` token of a page.
std::string token_of(const queue::Mailbox::AgeMark& mark);
Result<queue::Mailbox::AgeMark> mark_of(std::string_view token, bool newest_first = false);
Result<documents::DamagedCounts> count_damaged(Call& call);
// GET queues/{queue}/damaged?limit=100&after=…
Result<documents::DamagedPage> list_damaged(Call& call);
Result<documents::Touched> drop_damaged(Call& call, const documents::DamagedChoice& input);
Result<documents::DamagedRetried> retry_damaged(Call& call, const documents::DamagedChoice& input);
// The same for events of asynchronous invocations: events/{function}/damaged
Result<documents::DamagedPage> list_damaged_events(Call& call);
Result<documents::Touched> drop_damaged_events(Call& call, const documents::DamagedChoice& input);
Result<documents::DamagedRetried> retry_damaged_events(Call& call,
                                                       const documents::DamagedChoice& input);
Result<documents::Touched> purge_queue(Call& call, const documents::PurgeRequest& input);

Result<documents::FailureReceipt> report_failure(Call& call, const documents::FailureReport& input);
// Groups the dead letters that have just arrived, so that the following answer or action includes
// them.
void group_what_came(dead_letters::DeadLetters& dead_letters);
// The group of a queue with this id or unique prefix of an id.
Result<const queue::FailureGroup*> find_group(const queue::State& state, const queue::Queue& queue,
                                              std::string_view id);
Result<documents::FailureGroups> list_groups(Call& call);
Result<documents::FailureGroup> show_group(Call& call);
Result<documents::FailureGroup> mark_group(Call& call, const documents::GroupMark& input);
Result<documents::AllFailureGroups> list_all_groups(Call& call);
Result<documents::GroupRules> list_group_rules(Call& call);
Result<documents::GroupRules> merge_group(Call& call, const documents::GroupMerge& input);
Result<documents::GroupRules> split_group(Call& call, const documents::GroupSplit& input);
Result<documents::GroupRules> remove_group_rule(Call& call);
// GET find?q=…&mode=…&limit=…&after=…
Result<documents::FindPage> find_messages(Call& call);

Result<documents::Policy> show_policy(Call& call);
Result<documents::Policy> set_policy(Call& call, const documents::Policy& input);
Result<documents::Policy> remove_policy(Call& call);

Result<documents::JobStarted> start_job(Call& call, const documents::JobRequest& input);
Result<documents::Jobs> list_jobs(Call& call);
Result<documents::Job> show_job(Call& call);
Result<documents::Job> pause_job(Call& call);
Result<documents::Job> resume_job(Call& call);
Result<documents::Job> cancel_job(Call& call);
Result<documents::Job> change_job_rate(Call& call, const documents::RateChange& input);

Result<ClockView> show_clock(Call& call);
Result<ClockView> accept_clock(Call& call);
Result<ClockView> advance_clock(Call& call, const AdvanceClockInput& input);
Result<ResetOutput> reset(Call& call);
// GET overview?limit=100
inline constexpr std::size_t kOverviewQueuesMax = 1'000;
Result<documents::Overview> show_overview(Call& call);
// The same with at most `max` queues.
Result<documents::Overview> overview(Call& call, std::size_t max);
Result<Document> show_history(Call& call);
Result<Document> query_metrics(Call& call);
Result<documents::AlarmList> list_alarms(Call& call);
Result<documents::AlarmList> add_alarm(Call& call, const documents::NewAlarm& input);
Result<documents::AlarmList> remove_alarm(Call& call);
Result<documents::AlarmEvents> show_alarm_history(Call& call);
Result<documents::AlarmList> switch_alarm(Call& call, const documents::AlarmSwitch& input);
Result<documents::AlarmTargets> list_alarm_targets(Call& call);
Result<documents::AlarmTargets> test_alarm_targets(Call& call);
Result<Document> show_openapi(Call& call);

}  // namespace redrive::manage
