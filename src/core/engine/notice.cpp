#include "core/engine/notice.h"

#include "dead_letters/triage/fingerprint.h"

namespace redrive::engine {
namespace {

using queue::State;

std::string name_of(const State& state, queue::QueueKey key) {
  const queue::Queue* queue = state.find(key);
  return queue == nullptr ? "" : queue->identity.name;
}

std::string job_of(const State& state, queue::TaskKey key) {
  const queue::MoveTask* task = state.find_task(key);
  return task == nullptr ? "" : task->id.text();
}

// Facts that are not notable have no overload.
struct Describe {
  const State& state;

  // The text may become known with the same record.
  std::string error_of(queue::NameIndex error) const {
    return number(error) < state.names().size() ? state.name(error) : std::string();
  }

  std::optional<Notice> operator()(const queue::QueueCreated& f) const {
    if (f.identity.is_hidden()) return std::nullopt;
    return Notice{.event = "queue created", .fields = {{"queue", f.identity.name}}};
  }
  std::optional<Notice> operator()(const queue::QueueSettingsChanged& f) const {
    return Notice{.event = "queue changed", .fields = {{"queue", name_of(state, f.queue)}}};
  }
  std::optional<Notice> operator()(const queue::QueueDeleted& f) const {
    return Notice{.event = "queue deleted", .fields = {{"queue", name_of(state, f.queue)}}};
  }
  std::optional<Notice> operator()(const queue::QueuePurged& f) const {
    return Notice{.event = "queue purged", .fields = {{"queue", name_of(state, f.queue)}}};
  }
  std::optional<Notice> operator()(const queue::MessageDeadLettered& f) const {
    return Notice{.weight = Notice::Weight::swarm,
                  .event = "message dead-lettered",
                  .fields = {{"queue", name_of(state, f.to)},
                             {"from", name_of(state, f.from)},
                             {"message", std::to_string(number(f.key))}}};
  }
  std::optional<Notice> operator()(const queue::MessageDamaged& f) const {
    const queue::Slot slot = state.messages().find(f.key);
    if (slot == queue::kNoSlot) return std::nullopt;
    const queue::Message& message = state.messages()[slot];
    const std::string name = name_of(state, f.from);
    return Notice{.weight = Notice::Weight::fault,
                  .event = "message damaged and set aside",
                  .fields = {{"queue", name},
                             {"message", std::to_string(number(f.key))},
                             {"segment", std::to_string(message.body.segment)},
                             {"offset", std::to_string(message.body.offset)},
                             {"size", std::to_string(message.body.size)},
                             {"error", error_of(f.error)},
                             {"todo",
                              "see `redrive queue damaged ls`, or `redrive function damaged ls` "
                              "for events; restore the segment's file from a backup and use "
                              "`retry`, or `drop` it"}}};
  }
  std::optional<Notice> operator()(const queue::GroupLearned& f) const {
    return Notice{.weight = Notice::Weight::grave,
                  .event = "new failure group",
                  .fields = {{"queue", name_of(state, f.queue)},
                             {"group", triage::GroupId{f.identity.id}.text()},
                             {"title", f.identity.title}}};
  }
  std::optional<Notice> operator()(const queue::MoveTaskStarted& f) const {
    return Notice{.event = "job started",
                  .fields = {{"job", f.id.text()},
                             {"queue", name_of(state, f.source)},
                             {"messages", std::to_string(f.to_move)},
                             {"actor", f.plan.actor},
                             {"reason", f.plan.reason}}};
  }
  std::optional<Notice> operator()(const queue::MoveTaskChanged& f) const {
    const queue::MoveTask* task = state.find_task(f.task);
    if (task != nullptr && task->status == f.status)
      return std::nullopt;  // Only its rate or stage changed.
    return Notice{.weight = f.status == queue::TaskStatus::halted ? Notice::Weight::grave
                                                                  : Notice::Weight::usual,
                  .event = "job changed",
                  .fields = {{"job", job_of(state, f.task)},
                             {"status", std::string(name_of(f.status))},
                             {"note", std::string(f.note)}}};
  }
  std::optional<Notice> operator()(const queue::MoveTaskEnded& f) const {
    return Notice{.weight = f.status == queue::TaskStatus::failed ? Notice::Weight::grave
                                                                  : Notice::Weight::usual,
                  .event = "job ended",
                  .fields = {{"job", job_of(state, f.task)},
                             {"status", std::string(name_of(f.status))},
                             {"failure", std::string(f.failure)}}};
  }
  std::optional<Notice> operator()(const queue::ServerReset&) const {
    return Notice{.weight = Notice::Weight::grave, .event = "everything was reset", .fields = {}};
  }
  std::optional<Notice> operator()(const auto&) const { return std::nullopt; }
};

}  // namespace

bool may_be_notable(const queue::Change& change) {
  return !change.is<queue::MessageSent>() && !change.is<queue::MessagesReceived>() &&
         !change.is<queue::MessageDeleted>();
}

std::optional<Notice> notice_of(const State& state, const queue::Change& change) {
  auto notice = change.visit(Describe{state});
  if (notice) std::erase_if(notice->fields, [](const auto& field) { return field.second.empty(); });
  return notice;
}

}  // namespace redrive::engine
