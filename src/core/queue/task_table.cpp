#include "core/queue/task_table.h"

namespace redrive::queue {

MoveTask& TaskTable::put(MoveTask task) {
  erase(task.key);
  const TaskKey key = task.key;
  by_id_[task.id] = key;
  by_source_.insert({task.source, key});
  return tasks_.insert_or_assign(key, std::move(task)).first->second;
}

void TaskTable::erase(TaskKey key) {
  const auto found = tasks_.find(key);
  if (found == tasks_.end()) return;
  const auto known = by_id_.find(found->second.id);
  if (known != by_id_.end() && known->second == key) by_id_.erase(known);
  by_source_.erase({found->second.source, key});
  tasks_.erase(found);
}

std::vector<TaskKey> TaskTable::of(QueueKey source) const {
  std::vector<TaskKey> found;
  for (auto at = by_source_.lower_bound({source, TaskKey::none});
       at != by_source_.end() && at->first == source;
       ++at) {
    found.push_back(at->second);
  }
  return found;
}

void TaskTable::erase_of(QueueKey source) {
  for (const TaskKey key : of(source)) erase(key);
}

QueueKey TaskTable::next_source(QueueKey after) const {
  const auto found = by_source_.lower_bound({next(after), TaskKey::none});
  return found == by_source_.end() ? QueueKey::none : found->first;
}

void TaskTable::clear() {
  tasks_.clear();
  by_id_.clear();
  by_source_.clear();
}

MoveTask* TaskTable::find(TaskKey key) {
  const auto found = tasks_.find(key);
  return found == tasks_.end() ? nullptr : &found->second;
}

const MoveTask* TaskTable::find(TaskKey key) const {
  const auto found = tasks_.find(key);
  return found == tasks_.end() ? nullptr : &found->second;
}

const MoveTask* TaskTable::find(const Uuid& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : find(found->second);
}

const MoveTask* TaskTable::active(QueueKey source) const {
  for (const TaskKey key : of(source)) {
    const MoveTask* task = find(key);
    if (!is_over(task->status)) return task;
  }
  return nullptr;
}

}  // namespace redrive::queue
