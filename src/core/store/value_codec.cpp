#include "core/store/value_codec.h"

namespace redrive::store {

using namespace redrive::queue;  // NOLINT: the vocabulary of this file.

namespace {

constexpr std::uint8_t kSettingsVersion = 2;  // Version 1 had no policy for dead letters.
// Version 1 had neither errors nor events, 2 no retries, 3 no isolation.
constexpr std::uint8_t kHistoryVersion = 4;

void put_seconds(Writer& w, std::chrono::seconds s) {
  w.number(static_cast<std::uint32_t>(s.count()));
}

std::chrono::seconds get_seconds(Reader& r) {
  return std::chrono::seconds(r.number<std::uint32_t>());
}

void put(Writer& w, const RedriveAllowPolicy& allow) {
  w.number(allow.permission);
  w.number(static_cast<std::uint32_t>(allow.source_arns.size()));
  for (const std::string& arn : allow.source_arns) w.text(arn);
}

RedriveAllowPolicy get_allow(Reader& r) {
  RedriveAllowPolicy allow;
  allow.permission = r.number<RedriveAllowPolicy::Permission>();
  for (auto left = r.number<std::uint32_t>(); left > 0 && r.ok(); --left)
    allow.source_arns.emplace_back(r.text());
  return allow;
}

void put(Writer& w, const DeadLetterPolicy& policy) {
  w.number(policy.redrives_max);
  put_seconds(w, policy.redrive_after);
  w.number(policy.backoff_rate);
  put_seconds(w, policy.redrive_after_max);
  w.number(policy.then);
  w.number(static_cast<std::uint8_t>(policy.archive_expiring));
  w.text(policy.archive);
}

DeadLetterPolicy get_dead_letter_policy(Reader& r) {
  DeadLetterPolicy policy;
  policy.redrives_max = r.number<std::uint32_t>();
  policy.redrive_after = get_seconds(r);
  policy.backoff_rate = r.number<std::uint32_t>();
  policy.redrive_after_max = get_seconds(r);
  policy.then = r.number<DeadLetterPolicy::Then>();
  policy.archive_expiring = r.number<std::uint8_t>() != 0;
  policy.archive = r.text();
  return policy;
}

void put(Writer& w, const LineageEvent& event) {
  put(w, event.wall);
  w.number(event.from);
  w.number(event.actor);
  w.number(event.reason);
  w.number(event.job);
  w.number(event.kind);
  w.number(event.why);
}

LineageEvent get_event(Reader& r) {
  LineageEvent event;
  event.wall = get_time(r);
  event.from = r.number<NameIndex>();
  event.actor = r.number<NameIndex>();
  event.reason = r.number<NameIndex>();
  event.job = r.number<TaskKey>();
  event.kind = r.number<LineageEvent::Kind>();
  event.why = r.number<DeadLetterReason>();
  return event;
}

}  // namespace

void put(Writer& w, const QueueIdentity& identity) {
  w.text(identity.account);
  w.text(identity.region);
  w.text(identity.name);
}
QueueIdentity get_identity(Reader& r) {
  QueueIdentity identity;
  identity.account = r.text();
  identity.region = r.text();
  identity.name = r.text();
  return identity;
}

void put(Writer& w, const Tags& tags) {
  w.number(static_cast<std::uint32_t>(tags.size()));
  for (const auto& [key, value] : tags) {
    w.text(key);
    w.text(value);
  }
}

Tags get_tags(Reader& r) {
  Tags tags;
  for (auto left = r.number<std::uint32_t>(); left > 0 && r.ok(); --left) {
    std::string key(r.text());
    tags[std::move(key)] = std::string(r.text());
  }
  return tags;
}

void put(Writer& w, const QueueSettings& s) {
  w.number(kSettingsVersion);
  put_seconds(w, s.visibility_timeout);
  put_seconds(w, s.retention);
  put_seconds(w, s.delay);
  put_seconds(w, s.receive_wait);
  w.number(s.message_bytes_max);
  w.text(s.policy);
  w.number(static_cast<std::uint8_t>(s.redrive.has_value()));
  if (s.redrive) {
    w.text(s.redrive->target_arn);
    w.number(s.redrive->receive_count_max);
  }
  w.number(static_cast<std::uint8_t>(s.redrive_allow.has_value()));
  if (s.redrive_allow) put(w, *s.redrive_allow);
  w.number(static_cast<std::uint8_t>(s.sqs_managed_sse));
  w.text(s.kms_key_id);
  put_seconds(w, s.kms_reuse_period);
  w.number(static_cast<std::uint8_t>(s.fifo.has_value()));
  if (s.fifo) {
    w.number(static_cast<std::uint8_t>(s.fifo->content_based_dedup));
    w.number(s.fifo->dedup_scope);
    w.number(s.fifo->dedup_scope_at_birth);
    w.number(s.fifo->throughput_limit);
  }
  w.number(static_cast<std::uint8_t>(s.dead_letters.has_value()));
  if (s.dead_letters) put(w, *s.dead_letters);
}

QueueSettings get_settings(Reader& r) {
  QueueSettings s;
  const auto version = r.number<std::uint8_t>();
  if (version < 1 || version > kSettingsVersion) r.refuse();
  s.visibility_timeout = get_seconds(r);
  s.retention = get_seconds(r);
  s.delay = get_seconds(r);
  s.receive_wait = get_seconds(r);
  s.message_bytes_max = r.number<std::uint32_t>();
  s.policy = r.text();
  if (r.number<std::uint8_t>() != 0) {
    std::string arn(r.text());
    s.redrive = RedrivePolicy{std::move(arn), r.number<std::uint32_t>()};
  }
  if (r.number<std::uint8_t>() != 0) s.redrive_allow = get_allow(r);
  s.sqs_managed_sse = r.number<std::uint8_t>() != 0;
  s.kms_key_id = r.text();
  s.kms_reuse_period = get_seconds(r);
  if (r.number<std::uint8_t>() != 0) {
    FifoSettings fifo;
    fifo.content_based_dedup = r.number<std::uint8_t>() != 0;
    fifo.dedup_scope = r.number<DedupScope>();
    fifo.dedup_scope_at_birth = r.number<DedupScope>();
    fifo.throughput_limit = r.number<ThroughputLimit>();
    s.fifo = fifo;
  }
  if (version >= 2 && r.number<std::uint8_t>() != 0) s.dead_letters = get_dead_letter_policy(r);
  return s;
}

void put(Writer& w, const RetryCounts& retries) {
  w.number(retries.scope);
  w.number(static_cast<std::uint8_t>(retries.counts.size()));
  for (const std::uint32_t count : retries.counts) w.number(count);
}

RetryCounts get_retries(Reader& r) {
  RetryCounts retries;
  retries.scope = r.number<std::uint64_t>();
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    retries.counts.push_back(r.number<std::uint32_t>());
  }
  return retries;
}

void put(Writer& w, const History& h) {
  w.number(kHistoryVersion);
  put(w, h.first_received_wall);
  put(w, h.received_at);
  w.number(h.attempts_total);
  w.number(h.entered_generation);
  w.number(h.prior_receives);
  w.number(h.redrives);
  w.number(h.dead_letter_source);
  w.number(h.origin);
  w.number(h.sequence);
  w.number(static_cast<std::uint8_t>(h.message_id.has_value()));
  if (h.message_id) w.raw(h.message_id->bytes);
  put(w, h.sent_wall);
  w.number(static_cast<std::uint8_t>(h.dedup_is_message_id));
  w.number(static_cast<std::uint8_t>(h.attempts.size()));
  for (const Attempt& attempt : h.attempts) {
    put(w, attempt.received_wall);
    w.number(attempt.duration_ms);
    w.number(attempt.by);
    w.number(attempt.end);
    w.number(attempt.error);
    w.number(attempt.isolation);
    w.number(attempt.company);
  }
  w.number(h.job);
  w.number(h.group);
  w.number(h.former_group);
  w.number(h.events_total);
  w.number(static_cast<std::uint8_t>(h.events.size()));
  for (const LineageEvent& event : h.events) put(w, event);
  put(w, h.retries);
}

std::shared_ptr<History> get_history(Reader& r) {
  auto h = std::make_shared<History>();
  const auto version = r.number<std::uint8_t>();
  if (version < 1 || version > kHistoryVersion) r.refuse();
  h->first_received_wall = get_time(r);
  h->received_at = get_time(r);
  h->attempts_total = r.number<std::uint32_t>();
  h->entered_generation = r.number<std::uint32_t>();
  h->prior_receives = r.number<std::uint32_t>();
  h->redrives = r.number<std::uint16_t>();
  h->dead_letter_source = r.number<NameIndex>();
  h->origin = r.number<NameIndex>();
  h->sequence = r.number<std::uint64_t>();
  if (r.number<std::uint8_t>() != 0) h->message_id = Uuid{r.array<16>()};
  h->sent_wall = get_time(r);
  h->dedup_is_message_id = r.number<std::uint8_t>() != 0;
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    Attempt attempt;
    attempt.received_wall = get_time(r);
    attempt.duration_ms = r.number<std::uint32_t>();
    attempt.by = r.number<NameIndex>();
    attempt.end = r.number<AttemptEnd>();
    if (version >= 2) attempt.error = r.number<ErrorKey>();
    if (version >= 4) {
      attempt.isolation = r.number<Isolation>();
      attempt.company = r.number<std::uint16_t>();
    }
    h->attempts.push_back(attempt);
  }
  if (version < 2) return h;
  h->job = r.number<TaskKey>();
  h->group = r.number<FailureGroupKey>();
  h->former_group = r.number<FailureGroupKey>();
  h->events_total = r.number<std::uint32_t>();
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    h->events.push_back(get_event(r));
  }
  if (version >= 3) h->retries = get_retries(r);
  return h;
}

void put(Writer& w, const TaskPlan& plan) {
  w.text(plan.name);
  w.text(plan.reason);
  w.text(plan.actor);
  w.text(plan.filter);
  w.text(plan.patch);
  w.number(plan.group);
  w.number(plan.frozen_at);
  w.number(plan.limit);
  w.number(static_cast<std::uint8_t>(plan.stages.size()));
  for (const std::uint32_t stage : plan.stages) w.number(stage);
  w.number(plan.failure_percent_max);
  w.number(static_cast<std::uint8_t>(plan.include_parked));
  w.number(plan.watch_seconds);
}

TaskPlan get_plan(Reader& r) {
  TaskPlan plan;
  plan.name = r.text();
  plan.reason = r.text();
  plan.actor = r.text();
  plan.filter = r.text();
  plan.patch = r.text();
  plan.group = r.number<FailureGroupKey>();
  plan.frozen_at = r.number<std::uint64_t>();
  plan.limit = r.number<std::uint64_t>();
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    plan.stages.push_back(r.number<std::uint32_t>());
  }
  plan.failure_percent_max = r.number<std::uint32_t>();
  plan.include_parked = r.number<std::uint8_t>() != 0;
  plan.watch_seconds = r.number<std::uint32_t>();
  return plan;
}

void put(Writer& w, const TaskCounts& counts) {
  w.number(counts.moved);
  w.number(counts.succeeded);
  w.number(counts.failed_again);
  w.number(counts.gone);
}

TaskCounts get_counts(Reader& r) {
  TaskCounts counts;
  counts.moved = r.number<std::uint64_t>();
  counts.succeeded = r.number<std::uint64_t>();
  counts.failed_again = r.number<std::uint64_t>();
  counts.gone = r.number<std::uint64_t>();
  return counts;
}

void put(Writer& w, const std::vector<NameIndex>& names) {
  w.number(static_cast<std::uint8_t>(names.size()));
  for (const NameIndex name : names) w.number(name);
}

std::vector<NameIndex> get_names(Reader& r) {
  std::vector<NameIndex> names;
  for (auto left = r.number<std::uint8_t>(); left > 0 && r.ok(); --left) {
    names.push_back(r.number<NameIndex>());
  }
  return names;
}

}  // namespace redrive::store
