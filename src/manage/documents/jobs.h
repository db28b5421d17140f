#pragma once

#include "aws/sqs/model/types.h"

// Redrive jobs: selection, limits and outcomes.

namespace redrive::documents {

struct JobRequest {
  std::string_view name;
  std::string_view reason;
  std::string_view filter;
  std::string_view group;                     // Id of a failure group.
  std::vector<std::string_view> groups;       // The same, several of them.
  std::vector<std::string_view> message_ids;  // Only these, at most 50.
  std::string_view destination;               // A queue's name or ARN; empty: back to the sources.
  std::string_view patch;                     // JSON Patch for the bodies.
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> limit;
  std::vector<std::int64_t> canary;
  std::optional<std::int64_t> max_failure_percent;
  std::optional<std::int64_t> watch_seconds;
  std::optional<bool> include_parked;
  std::optional<bool> dry_run;
};
consteval auto shape_of(JobRequest*) {
  using In = JobRequest;
  return wire::shape(
      wire::optional("name", &In::name),
      wire::optional("reason", &In::reason),
      wire::optional("filter", &In::filter),
      wire::optional("group", &In::group),
      wire::optional("groups", &In::groups).each("group"),
      wire::optional("messageIds", &In::message_ids).each("messageId"),
      wire::optional("destination", &In::destination),
      wire::optional("patch", &In::patch),
      wire::optional("rate", &In::rate).between(1, 1'000'000, "Must be between 1 and 1000000."),
      wire::optional("limit", &In::limit)
          .between(1, 1'000'000'000'000, "Must be between 1 and 1000000000000."),
      wire::optional("canary", &In::canary).each("stage"),
      wire::optional("maxFailurePercent", &In::max_failure_percent)
          .between(0, 100, "Must be between 0 and 100."),
      wire::optional("watchSeconds", &In::watch_seconds)
          .between(1, 604'800, "Must be between 1 and 604800."),
      wire::optional("includeParked", &In::include_parked),
      wire::optional("dryRun", &In::dry_run));
}

struct Job {
  std::string_view id;
  std::string_view queue;   // Its name.
  std::string_view status;  // running, paused, halted, completed, cancelled, failed
  std::string_view note;    // Why it is paused, halted or failed.
  std::string_view name;
  std::string_view reason;
  std::string_view actor;
  std::string_view filter;
  std::string_view group;
  std::string_view destination;  // ARN; absent: each message to its source queue.
  std::string_view patch;
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> limit;
  std::vector<std::int64_t> canary;
  std::int64_t stage = 0;
  std::int64_t max_failure_percent = 100;
  std::int64_t watch_seconds = 0;
  std::int64_t to_move = 0;  // An upper limit: how many a filter excludes is known only at the end.
  std::int64_t moved = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed_again = 0;
  std::int64_t gone = 0;
  std::int64_t open = 0;
  std::string_view started_at;
  std::optional<std::string_view> ended_at;
};
consteval auto shape_of(Job*) {
  using Out = Job;
  return wire::shape(wire::required("id", &Out::id),
                     wire::required("queue", &Out::queue),
                     wire::required("status", &Out::status),
                     wire::optional("note", &Out::note).sensitive(),
                     wire::optional("name", &Out::name).sensitive(),
                     wire::optional("reason", &Out::reason).sensitive(),
                     wire::optional("actor", &Out::actor),
                     wire::optional("filter", &Out::filter).sensitive(),
                     wire::optional("group", &Out::group),
                     wire::optional("destination", &Out::destination),
                     wire::optional("patch", &Out::patch).sensitive(),
                     wire::optional("rate", &Out::rate),
                     wire::optional("limit", &Out::limit),
                     wire::optional("canary", &Out::canary).each("stage"),
                     wire::required("stage", &Out::stage),
                     wire::required("maxFailurePercent", &Out::max_failure_percent),
                     wire::required("watchSeconds", &Out::watch_seconds),
                     wire::required("toMove", &Out::to_move),
                     wire::required("moved", &Out::moved),
                     wire::required("succeeded", &Out::succeeded),
                     wire::required("failedAgain", &Out::failed_again),
                     wire::required("gone", &Out::gone),
                     wire::required("open", &Out::open),
                     wire::required("startedAt", &Out::started_at),
                     wire::optional("endedAt", &Out::ended_at));
}

struct Jobs {
  std::vector<Job> jobs;  // The latest first.
};
consteval auto shape_of(Jobs*) {
  return wire::shape(wire::optional("jobs", &Jobs::jobs).each("job").always());
}

// What a job would move.
struct Selection {
  std::int64_t candidates = 0;       // In the queue, and of the group.
  std::int64_t scanned = 0;          // Of those: read. Fewer if there are very many.
  std::int64_t matched = 0;          // Of those: chosen.
  std::vector<std::int64_t> sample;  // Keys of some that are.
};
consteval auto shape_of(Selection*) {
  using Out = Selection;
  return wire::shape(wire::required("candidates", &Out::candidates),
                     wire::required("scanned", &Out::scanned),
                     wire::required("matched", &Out::matched),
                     wire::optional("sample", &Out::sample).each("key"));
}

// One of the two.
struct JobStarted {
  std::optional<Job> job;
  std::optional<Selection> dry_run;
};
consteval auto shape_of(JobStarted*) {
  return wire::shape(wire::optional("job", &JobStarted::job),
                     wire::optional("dryRun", &JobStarted::dry_run));
}

struct RateChange {
  std::int64_t rate = 0;  // Messages per second; 0: unlimited.
};
consteval auto shape_of(RateChange*) {
  return wire::shape(
      wire::required("rate", &RateChange::rate).between(0, 1'000'000, "Must be at most 1000000."));
}

}  // namespace redrive::documents
