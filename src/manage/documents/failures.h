#pragma once

#include "aws/sqs/model/types.h"

// Failure reports of consumers, and failure groups.

namespace redrive::documents {

struct FailureReport {
  std::string_view receipt_handle;
  std::string_view error_type;
  std::string_view error_message;
  std::string_view stack_trace;
  std::string_view fingerprint;
  std::optional<std::string_view> disposition;  // retry, dead-letter
  std::optional<std::int64_t> retry_after_seconds;
};
consteval auto shape_of(FailureReport*) {
  using In = FailureReport;
  return wire::shape(wire::required("receiptHandle", &In::receipt_handle).filled(),
                     wire::optional("errorType", &In::error_type),
                     wire::optional("errorMessage", &In::error_message),
                     wire::optional("stackTrace", &In::stack_trace),
                     wire::optional("fingerprint", &In::fingerprint),
                     wire::optional("disposition", &In::disposition),
                     wire::optional("retryAfterSeconds", &In::retry_after_seconds)
                         .between(0, 43'200, "Must be between 0 and 43200."));
}

struct FailureReceipt {
  std::string_view queue;  // Where the message was received.
};
consteval auto shape_of(FailureReceipt*) {
  return wire::shape(wire::required("queue", &FailureReceipt::queue));
}

// A finding: true of dead letters more often than of processed messages.
struct Distinction {
  std::string_view kind;
  std::string_view feature;
  std::string_view sentence;
  std::string_view filter;  // Selects the messages that it is true of.
  std::int64_t dead_with = 0;
  std::int64_t dead_total = 0;
  std::int64_t processed_with = 0;
  std::int64_t processed_total = 0;
  double score = 0;
};
consteval auto shape_of(Distinction*) {
  using Out = Distinction;
  return wire::shape(wire::required("kind", &Out::kind),
                     wire::optional("feature", &Out::feature).sensitive(),
                     wire::required("sentence", &Out::sentence).sensitive(),
                     wire::optional("filter", &Out::filter).sensitive(),
                     wire::required("deadWith", &Out::dead_with),
                     wire::required("deadTotal", &Out::dead_total),
                     wire::required("processedWith", &Out::processed_with),
                     wire::required("processedTotal", &Out::processed_total),
                     wire::required("score", &Out::score));
}

// A version of a function's code was put into service.
struct DeployMark {
  std::string_view at;
  std::string_view consumer;
  std::string_view code;
};
consteval auto shape_of(DeployMark*) {
  return wire::shape(wire::required("at", &DeployMark::at),
                     wire::required("consumer", &DeployMark::consumer),
                     wire::required("code", &DeployMark::code));
}

// Whether a group began with a version of its consumers' code.
struct GroupDeploy {
  std::string_view sentence;
  std::string_view verdict;   // began-with, too-few, any-version, first-known
  std::string_view consumer;  // The consumer that has these versions.
  std::string_view code;      // The first that its messages failed under.
  std::string_view since;     // When it was deployed, or first seen.
  std::int64_t failed = 0;    // Messages of the group that failed under it,
  std::int64_t handled = 0;   // of this many received.
  std::string_view before;    // The version before; empty: not known.
  std::int64_t handled_before = 0;
  std::string_view overlap_until;  // Both versions ran until then.
};
consteval auto shape_of(GroupDeploy*) {
  using Out = GroupDeploy;
  return wire::shape(wire::required("sentence", &Out::sentence),
                     wire::required("verdict", &Out::verdict),
                     wire::required("consumer", &Out::consumer),
                     wire::required("code", &Out::code),
                     wire::required("since", &Out::since),
                     wire::required("failed", &Out::failed),
                     wire::required("handled", &Out::handled),
                     wire::optional("before", &Out::before),
                     wire::required("handledBefore", &Out::handled_before),
                     wire::optional("overlapUntil", &Out::overlap_until));
}

// An event, shown with a group's arrivals.
struct TimelineMark {
  std::string_view at;
  std::string_view kind;  // job-started, job-ended, alarm, deploy
  std::string_view id;    // Of the job or the code, or the name of the alarm.
  std::string_view text;
};
consteval auto shape_of(TimelineMark*) {
  using Out = TimelineMark;
  return wire::shape(wire::required("at", &Out::at),
                     wire::required("kind", &Out::kind),
                     wire::optional("id", &Out::id),
                     wire::optional("text", &Out::text).sensitive());
}

struct FailureGroup {
  std::string_view queue;  // The name of the dead-letter queue.
  std::string_view id;
  std::string_view title;
  std::string_view status;  // new, known, regressed, ignored, resolved
  std::int64_t count = 0;   // Messages that are in it now.
  std::int64_t total = 0;   // That ever arrived.
  std::int64_t failed_again = 0;
  std::string_view first_seen;
  std::string_view last_seen;
  bool escalating = false;           // Arrivals of the last five minutes grow fast.
  std::vector<std::int64_t> hourly;  // Arrivals of the last 24 hours, the present one last.
  std::vector<std::int64_t> daily;   // The same of the last 14 days (UTC).
  std::vector<std::string_view> sources;
  std::vector<std::string_view> consumers;
  std::string_view basis;        // explicit, frames, message, shape
  std::string_view why_grouped;  // A sentence.
  std::string_view note;
  std::string_view owner;
  std::string_view ignored_until;                // While ignored: until then,
  std::optional<std::int64_t> ignored_to_total;  // or until this many have arrived in total.
  std::string_view marked_by;
  std::vector<TimelineMark> marks;      // Oldest first; only of a single group.
  std::optional<std::int64_t> sample;   // The key of a message that is in it.
  std::vector<Distinction> sets_apart;  // Only of a single group.
  std::optional<GroupDeploy> deploy;    // Where consumers say their version.
  std::vector<DeployMark> deploys;      // Of the functions that its messages failed in.
};
consteval auto shape_of(FailureGroup*) {
  using Out = FailureGroup;
  return wire::shape(wire::optional("queue", &Out::queue),
                     wire::required("id", &Out::id),
                     wire::required("title", &Out::title).sensitive(),
                     wire::required("status", &Out::status),
                     wire::required("count", &Out::count),
                     wire::required("total", &Out::total),
                     wire::required("failedAgain", &Out::failed_again),
                     wire::required("firstSeen", &Out::first_seen),
                     wire::required("lastSeen", &Out::last_seen),
                     wire::optional("escalating", &Out::escalating),
                     wire::optional("hourly", &Out::hourly).each("hour"),
                     wire::optional("daily", &Out::daily).each("day"),
                     wire::optional("sources", &Out::sources).each("source"),
                     wire::optional("consumers", &Out::consumers).each("consumer"),
                     wire::required("basis", &Out::basis),
                     wire::required("whyGrouped", &Out::why_grouped).sensitive(),
                     wire::optional("note", &Out::note).sensitive(),
                     wire::optional("owner", &Out::owner),
                     wire::optional("ignoredUntil", &Out::ignored_until),
                     wire::optional("ignoredToTotal", &Out::ignored_to_total),
                     wire::optional("markedBy", &Out::marked_by),
                     wire::optional("marks", &Out::marks).each("mark"),
                     wire::optional("sample", &Out::sample),
                     wire::optional("setsApart", &Out::sets_apart).each("distinction"),
                     wire::optional("deploy", &Out::deploy),
                     wire::optional("deploys", &Out::deploys).each("deploy"));
}

struct FailureGroups {
  std::vector<FailureGroup> groups;  // Escalating ones first, then the largest.
  std::int64_t ungrouped = 0;        // Dead letters that are not grouped yet.
  std::vector<Distinction>
      sets_apart;  // All dead letters of the queue compared with processed messages.
};
consteval auto shape_of(FailureGroups*) {
  using Out = FailureGroups;
  return wire::shape(wire::optional("groups", &Out::groups).each("group").always(),
                     wire::required("ungrouped", &Out::ungrouped),
                     wire::optional("setsApart", &Out::sets_apart).each("distinction"));
}

// The groups of all dead-letter queues, escalating ones first, then the newest cause.
struct AllFailureGroups {
  std::vector<FailureGroup> groups;
  std::int64_t ungrouped = 0;
};
consteval auto shape_of(AllFailureGroups*) {
  using Out = AllFailureGroups;
  return wire::shape(wire::optional("groups", &Out::groups).each("group").always(),
                     wire::required("ungrouped", &Out::ungrouped));
}

// Only the given members change; at least one is required.
struct GroupMark {
  std::optional<std::string_view> status;
  std::optional<std::string_view> note;
  std::optional<std::string_view> owner;
  std::optional<std::string_view> ignore_until;  // With `ignored`: a time,
  std::optional<std::int64_t> ignore_count;      // or how many more may come.
};
consteval auto shape_of(GroupMark*) {
  using In = GroupMark;
  return wire::shape(wire::optional("status", &In::status),
                     wire::optional("note", &In::note),
                     wire::optional("owner", &In::owner),
                     wire::optional("ignoreUntil", &In::ignore_until),
                     wire::optional("ignoreCount", &In::ignore_count)
                         .between(1, 1'000'000'000, "Must be between 1 and 1000000000."));
}

struct GroupMerge {
  std::string_view into;  // The id of the group that it becomes part of.
};
consteval auto shape_of(GroupMerge*) {
  return wire::shape(wire::required("into", &GroupMerge::into).filled());
}

struct GroupSplit {
  std::string_view filter;  // Selects the messages that leave it.
  std::string_view title;   // Of the group they make.
};
consteval auto shape_of(GroupSplit*) {
  return wire::shape(wire::required("filter", &GroupSplit::filter).filled(),
                     wire::optional("title", &GroupSplit::title));
}

// A manual merge or split, which later dead letters follow.
struct GroupRule {
  std::int64_t number = 0;
  std::string_view kind;    // merge, split
  std::string_view from;    // The id of the group it is about.
  std::string_view into;    // The id of the group that its messages belong to,
  std::string_view title;   // and its title.
  std::string_view filter;  // Of a split.
  std::string_view made_by;
  std::string_view made_at;
  bool applied = false;  // To all messages that existed when it was made.
};
consteval auto shape_of(GroupRule*) {
  using Out = GroupRule;
  return wire::shape(wire::required("number", &Out::number),
                     wire::required("kind", &Out::kind),
                     wire::required("from", &Out::from),
                     wire::required("into", &Out::into),
                     wire::required("title", &Out::title).sensitive(),
                     wire::optional("filter", &Out::filter).sensitive(),
                     wire::optional("madeBy", &Out::made_by),
                     wire::required("madeAt", &Out::made_at),
                     wire::required("applied", &Out::applied));
}

struct GroupRules {
  std::vector<GroupRule> rules;  // In the order in which they apply.
};
consteval auto shape_of(GroupRules*) {
  return wire::shape(wire::optional("rules", &GroupRules::rules).each("rule").always());
}

}  // namespace redrive::documents
