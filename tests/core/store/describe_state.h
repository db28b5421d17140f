#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "core/queue/state.h"

namespace redrive::store {

// Which order to include. The order within a FIFO group is always preserved; that of a standard
// queue by a replay but not by a checkpoint; that between groups is unspecified.
enum class Order { all_queues, fifo_queues };

inline std::string describe_error(const queue::ErrorText& error) {
  return fmt::format(
      "{}|{}|{}|{}|{}", error.type, error.message, error.stack, error.fingerprint, error.log);
}

inline std::string describe_event(const queue::LineageEvent& event) {
  return fmt::format(" event {}/{}/{}/{}/{}/{}/{}",
                     event.wall.ms(),
                     number(event.from),
                     number(event.actor),
                     number(event.reason),
                     number(event.job),
                     static_cast<int>(event.kind),
                     static_cast<int>(event.why));
}

inline std::string describe_history(const queue::History* history) {
  if (history == nullptr) return "no history";
  std::string out = fmt::format(
      "first {} at {} attempts {} entered {} prior {} redrives {} from {} origin {} "
      "sequence {} id {} sent {} dedup {} job {} group {} formerly {} events {} retries {} {}:",
      history->first_received_wall.ms(),
      history->received_at.ms(),
      history->attempts_total,
      history->entered_generation,
      history->prior_receives,
      history->redrives,
      number(history->dead_letter_source),
      number(history->origin),
      history->sequence,
      history->message_id ? history->message_id->text() : "as sent",
      history->sent_wall.ms(),
      history->dedup_is_message_id,
      number(history->job),
      number(history->group),
      number(history->former_group),
      history->events_total,
      history->retries.scope,
      fmt::join(history->retries.counts, ","));
  for (const queue::Attempt& attempt : history->attempts) {
    out += fmt::format(" {}/{}/{}/{}/{}/{}/{}",
                       attempt.received_wall.ms(),
                       attempt.duration_ms,
                       number(attempt.by),
                       static_cast<int>(attempt.end),
                       number(attempt.error),
                       static_cast<int>(attempt.isolation),
                       attempt.company);
  }
  for (const queue::LineageEvent& event : history->events) out += describe_event(event);
  return out;
}

inline std::string describe_settings(const queue::QueueSettings& s) {
  std::string out = fmt::format("{} {} {} {} {} '{}' sse {} kms '{}' {}",
                                s.visibility_timeout.count(),
                                s.retention.count(),
                                s.delay.count(),
                                s.receive_wait.count(),
                                s.message_bytes_max,
                                s.policy,
                                s.sqs_managed_sse,
                                s.kms_key_id,
                                s.kms_reuse_period.count());
  if (s.redrive)
    out += fmt::format(" redrive {} {}", s.redrive->target_arn, s.redrive->receive_count_max);
  if (s.redrive_allow) {
    out += fmt::format(" allow {}", static_cast<int>(s.redrive_allow->permission));
    for (const std::string& arn : s.redrive_allow->source_arns) out += ' ' + arn;
  }
  if (s.fifo) {
    out += fmt::format(" fifo {} {} {} {}",
                       s.fifo->content_based_dedup,
                       static_cast<int>(s.fifo->dedup_scope),
                       static_cast<int>(s.fifo->dedup_scope_at_birth),
                       static_cast<int>(s.fifo->throughput_limit));
  }
  return out;
}

inline std::string describe_walk(const queue::State& state, const queue::Queue& queue,
                                 Order order) {
  std::map<std::string, std::string> walks;
  queue::ReadyWalk walk(state.mailbox(queue));
  const bool fifo = state.mailbox(queue).is_fifo();
  if (order == Order::fifo_queues && !fifo) return "";
  for (queue::Slot slot = walk.next(); slot != queue::kNoSlot; slot = walk.next()) {
    const std::string group = fifo ? std::string(state.group_of(slot)) : "";
    walks[group] += fmt::format(" {}", number(state.messages()[slot].key));
  }
  std::string out;
  for (const auto& [group, keys] : walks) out += fmt::format("  walk {}:{}\n", group, keys);
  return out;
}

inline std::string describe_queue(const queue::State& state, const queue::Queue& queue,
                                  Order order) {
  const queue::Mailbox& box = state.mailbox(queue);
  std::string out =
      fmt::format("queue {} {} arn {} created {} modified {} purged {} processed '{}': {}\n",
                  number(queue.key),
                  queue.identity.arn(),
                  number(queue.arn),
                  queue.created_wall.ms(),
                  queue.modified_wall.ms(),
                  queue.purged_at.ms(),
                  queue.processed,
                  describe_settings(queue.settings));
  for (const auto& [key, value] : queue.tags) out += fmt::format("  tag {}={}\n", key, value);
  out += fmt::format("  {} visible, {} in flight, {} delayed, {} groups, next at {}\n",
                     box.visible(),
                     box.in_flight(),
                     box.delayed(),
                     box.groups(),
                     box.next_visible_at().ms());
  std::map<queue::DedupId, std::string> taken;
  for (std::uint64_t at = queue.dedup.first(); at < queue.dedup.last(); ++at) {
    const auto& [id, entry] = queue.dedup.at(at);
    taken[id] =
        fmt::format("{} {} {}", entry.expires.ms(), entry.message_id.text(), entry.sequence);
  }
  for (const auto& [id, text] : taken)
    out += fmt::format("  taken {} {}: {}\n", id[0], id[1], text);
  for (const auto& [id, attempt] : queue.receive_attempts) {
    out += fmt::format("  attempt {} until {}:", id, attempt.expires.ms());
    for (const auto& [key, generation] : attempt.messages)
      out += fmt::format(" {}.{}", number(key), generation);
    out += '\n';
  }
  return out + describe_walk(state, queue, order);
}

// Keys refer to texts and groups: what they refer to must be equal, too.
inline std::string describe_meaning(const queue::State& state, queue::Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return "";
  std::string out;
  for (const queue::Attempt& attempt : history->attempts) {
    const queue::ErrorText* error = state.errors().find(attempt.error);
    if (error != nullptr) out += " error " + describe_error(*error);
  }
  if (const queue::FailureGroup* group = state.find_group(history->group)) {
    out += " in group ";
    for (const std::uint8_t byte : group->identity.id) out += fmt::format("{:02x}", byte);
  }
  return out + (state.wants_group(slot) ? " without a group" : "");
}

inline std::string describe_message(const queue::State& state, queue::Slot slot) {
  const queue::Message& message = state.messages()[slot];
  return fmt::format(
      "message {} in {} group '{}' at {}/{}/{} phase {} until {} sent {} received {} touched {}: "
      "{}{}\n",
      number(message.key),
      number(state.queue_of(slot)),
      state.group_of(slot),
      message.body.segment,
      message.body.offset,
      message.body.size,
      static_cast<int>(message.phase),
      message.phase == queue::Phase::visible ? 0 : message.visible_at.ms(),
      message.sent_at.ms(),
      message.receive_count,
      message.visibility_touched,
      describe_history(state.messages().history_if(slot)),
      describe_meaning(state, slot));
}

inline std::string describe_counts(const queue::TaskCounts& counts) {
  return fmt::format(
      "{}:{}/{}/{}", counts.moved, counts.succeeded, counts.failed_again, counts.gone);
}

inline std::string describe_plan(const queue::TaskPlan& plan) {
  std::string out = fmt::format("plan '{}' '{}' '{}' '{}' '{}' group {} up to {} limit {} {}% {} s",
                                plan.name,
                                plan.reason,
                                plan.actor,
                                plan.filter,
                                plan.patch,
                                number(plan.group),
                                plan.frozen_at,
                                plan.limit,
                                plan.failure_percent_max,
                                plan.watch_seconds);
  for (const std::uint32_t stage : plan.stages) out += fmt::format(" {}", stage);
  return out;
}

inline std::string describe_task(const queue::MoveTask& task) {
  return fmt::format(
      "task {} {} from {} {} to {} rate {} {} forgiven {} of {} stage {} at {} till {} status {} "
      "'{}' {}\n",
      number(task.key),
      task.id.text(),
      number(task.source),
      task.source_arn,
      task.destination_arn,
      task.rate,
      describe_counts(task.counts),
      describe_counts(task.forgiven),
      task.to_move,
      task.stage,
      task.started_wall.ms(),
      task.ended_wall.ms(),
      static_cast<int>(task.status),
      task.failure,
      describe_plan(task.plan));
}

inline std::string describe_names(const std::vector<queue::NameIndex>& names) {
  std::string out;
  for (const queue::NameIndex name : names) out += fmt::format(" {}", number(name));
  return out;
}

inline std::string describe_arrivals(const queue::GroupArrivals& arrivals) {
  std::string out = fmt::format("{} arrivals, {} again, from {} to {}; hours",
                                arrivals.total,
                                arrivals.failed_again,
                                arrivals.first_wall.ms(),
                                arrivals.last_wall.ms());
  for (const std::uint32_t count : arrivals.by_hour) out += fmt::format(" {}", count);
  out += "; days";
  for (const std::uint32_t count : arrivals.by_day) out += fmt::format(" {}", count);
  out += "; minutes";
  for (const std::uint32_t count : arrivals.by_minute) out += fmt::format(" {}", count);
  return out + "; sources" + describe_names(arrivals.sources) + "; consumers" +
         describe_names(arrivals.consumers);
}

inline std::string describe_identity(const queue::GroupIdentity& identity) {
  std::string out;
  for (const std::uint8_t byte : identity.id) out += fmt::format("{:02x}", byte);
  return out + fmt::format(" {} '{}' '{}'", identity.basis, identity.title, identity.reason);
}

// Samples are left out: which messages they contain is unspecified.
inline std::string describe_rule(const queue::GroupRule& rule) {
  std::string from;
  for (const std::uint8_t byte : rule.from) from += fmt::format("{:02x}", byte);
  return fmt::format("rule {}: {} '{}' into {} by {} at {} applied {}",
                     rule.number,
                     from,
                     rule.filter,
                     describe_identity(rule.into),
                     number(rule.made_by),
                     rule.made_wall.ms(),
                     rule.applied);
}

inline std::string describe_group(const queue::FailureGroup& group) {
  return fmt::format("group {} of {} {} status {} '{}' by {} owner '{}' ignored {}/{} has {}: {}\n",
                     number(group.key),
                     number(group.queue),
                     describe_identity(group.identity),
                     static_cast<int>(group.status),
                     group.note,
                     number(group.marked_by),
                     group.owner,
                     group.ignored_until.ms(),
                     group.ignored_to_total,
                     group.count,
                     describe_arrivals(group.arrivals));
}

// The whole state as text, so that two states are equal if their texts are, and differences are
// readable.
inline std::string describe_state(const queue::State& state, Order order) {
  std::string out = fmt::format("last {} {} {} {} {}, orphans {}\n",
                                number(state.last_key()),
                                number(state.last_queue()),
                                number(state.last_task()),
                                number(state.last_group()),
                                number(state.errors().last()),
                                state.orphans());
  for (const std::uint8_t byte : state.secret()) out += fmt::format("{:02x}", byte);
  out += '\n';
  for (const std::string& name : state.names()) out += "name " + name + '\n';
  for (const auto& [identity, queue] : state.queues()) out += describe_queue(state, *queue, order);
  std::map<queue::MessageKey, std::string> messages;
  for (queue::Slot slot = 0; slot < state.messages().end(); ++slot) {
    const queue::MessageKey key = state.messages()[slot].key;
    if (key != queue::MessageKey::none && !state.is_buried(slot))
      messages[key] = describe_message(state, slot);
  }
  for (const auto& [key, text] : messages) out += text;
  for (const auto& [key, task] : state.tasks()) out += describe_task(task);
  for (const auto& [key, group] : state.groups()) out += describe_group(group);
  for (const auto& [key, rule] : state.group_rules()) {
    out += fmt::format("{} {}\n", number(key.first), describe_rule(rule));
  }
  for (const auto& [place, archived] : state.archived().entries()) {
    out += fmt::format("archived {} {} as {} from {} at {} back {} in {}: {}\n",
                       place,
                       archived.lineage.text(),
                       archived.message_id.text(),
                       number(archived.from),
                       archived.archived_wall.ms(),
                       archived.restored_wall.ms(),
                       archived.place,
                       describe_history(&archived.history));
  }
  for (const auto& [entry, value] : state.entries()) {
    out += fmt::format("entry {} {} {}\n", number(entry.first), entry.second, value);
  }
  for (const auto& [key, entry] : state.errors().entries()) {
    out +=
        fmt::format("error {} held {}: {}\n", number(key), entry.holds, describe_error(entry.text));
  }
  return out;
}

}  // namespace redrive::store
