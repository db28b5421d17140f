#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "queue/state.h"

namespace redrive::store {

// Whose order to tell. That within a FIFO group is kept always; that of a standard queue by a
// replay but not by a checkpoint; that between groups is not promised, and depends on who looked
// when.
enum class Order { all_queues, fifo_queues };

inline std::string describe_history(const queue::History* history) {
  if (history == nullptr) return "no history";
  std::string out = fmt::format(
      "first {} at {} attempts {} entered {} prior {} redrives {} from {} origin {} "
      "sequence {} id {} sent {} dedup {}:",
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
      history->dedup_is_message_id);
  for (const queue::Attempt& attempt : history->attempts) {
    out += fmt::format(" {}/{}/{}/{}",
                       attempt.received_wall.ms(),
                       attempt.duration_ms,
                       number(attempt.by),
                       static_cast<int>(attempt.end));
  }
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
  std::string out = fmt::format("queue {} {} arn {} created {} modified {} purged {}: {}\n",
                                number(queue.key),
                                queue.identity.arn(),
                                number(queue.arn),
                                queue.created_wall.ms(),
                                queue.modified_wall.ms(),
                                queue.purged_at.ms(),
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
    const queue::DedupId& id = queue.dedup.id_at(at);
    if (const auto* entry = queue.dedup.entry(id)) {
      taken[id] =
          fmt::format("{} {} {}", entry->expires.ms(), entry->message_id.text(), entry->sequence);
    }
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

inline std::string describe_message(const queue::State& state, queue::Slot slot) {
  const queue::Message& message = state.messages()[slot];
  return fmt::format(
      "message {} in {} group '{}' at {}/{}/{} phase {} until {} sent {} received {} touched {}: "
      "{}\n",
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
      describe_history(state.messages().history_if(slot)));
}

// Everything a state knows, as text, so that two states are equal when their texts are, and a
// difference can be read.
inline std::string describe_state(const queue::State& state, Order order) {
  std::string out = fmt::format("last {} {} {}, orphans {}\n",
                                number(state.last_key()),
                                number(state.last_queue()),
                                number(state.last_task()),
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
  for (const auto& [key, task] : state.tasks()) {
    out += fmt::format("task {} {} from {} {} to {} rate {} {}/{} at {} status {} '{}'\n",
                       number(key),
                       task.id.text(),
                       number(task.source),
                       task.source_arn,
                       task.destination_arn,
                       task.rate,
                       task.counts.moved,
                       task.to_move,
                       task.started_wall.ms(),
                       static_cast<int>(task.status),
                       task.failure);
  }
  return out;
}

}  // namespace redrive::store
