#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/queue/move_task.h"

namespace redrive::queue {

// Redrive jobs and move tasks, found by key, id or source queue without a scan: a server with many
// queues keeps many thousands of them.
class TaskTable {
 public:
  const std::map<TaskKey, MoveTask>& all() const { return tasks_; }
  const std::map<Uuid, TaskKey>& by_id() const { return by_id_; }

  // Replaces the task with the same key.
  MoveTask& put(MoveTask task);
  void erase(TaskKey key);
  // Tasks of the queue, oldest first. At most one is unfinished, and of the others State keeps
  // kTasksKeptPerSource.
  std::vector<TaskKey> of(QueueKey source) const;
  void erase_of(QueueKey source);
  // The first queue behind that one that has tasks; none when there is none.
  QueueKey next_source(QueueKey after) const;
  void clear();

  MoveTask* find(TaskKey key);
  const MoveTask* find(TaskKey key) const;
  const MoveTask* find(const Uuid& id) const;
  // The task of the queue that is not over; nullptr: there is none.
  const MoveTask* active(QueueKey source) const;

 private:
  std::map<TaskKey, MoveTask> tasks_;
  std::map<Uuid, TaskKey> by_id_;
  std::set<std::pair<QueueKey, TaskKey>> by_source_;
};

}  // namespace redrive::queue
