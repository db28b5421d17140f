#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue/ids.h"

namespace redrive::queue {

enum class TaskStatus : std::uint8_t {
  running,
  completed,
  cancelled,
  failed,
  paused,  // By an operator.
  halted,  // By its circuit breaker: too many messages failed again.
};

inline std::string_view name_of(TaskStatus status) {
  switch (status) {
    case TaskStatus::running:
      return "running";
    case TaskStatus::completed:
      return "completed";
    case TaskStatus::cancelled:
      return "cancelled";
    case TaskStatus::failed:
      return "failed";
    case TaskStatus::paused:
      return "paused";
    case TaskStatus::halted:
      return "halted";
  }
  return "failed";
}

inline bool is_over(TaskStatus status) {
  return status == TaskStatus::completed || status == TaskStatus::cancelled ||
         status == TaskStatus::failed;
}

// The selection and safety limits of a redrive job. The default is what StartMessageMoveTask does.
struct TaskPlan {
  std::string name;
  std::string reason;
  std::string actor;
  std::string filter;                             // triage::Filter; empty: all.
  std::string patch;                              // JSON Patch for the bodies; empty: none.
  FailureGroupKey group = FailureGroupKey::none;  // Only its members.
  std::uint64_t frozen_at = 0;  // Takes only what entered the queue up to this place; 0: anything.
  std::uint64_t limit = 0;      // Maximum number of messages; 0: all.
  std::vector<std::uint32_t>
      stages;  // Canary: pause after this many moves in total and wait for outcomes.
  std::uint32_t failure_percent_max =
      100;                          // The job halts above this share of failures; 100: never.
  bool include_parked = false;      // Include parked messages.
  std::uint32_t watch_seconds = 0;  // How long to wait for the outcomes of a stage.

  friend bool operator==(const TaskPlan&, const TaskPlan&) = default;
};

// The outcomes of a job's messages.
struct TaskCounts {
  std::uint64_t moved = 0;
  std::uint64_t succeeded = 0;     // Deleted by a consumer.
  std::uint64_t failed_again = 0;  // In a dead-letter queue again.
  std::uint64_t gone = 0;          // Expired, purged or moved by another operation.

  friend bool operator==(const TaskCounts&, const TaskCounts&) = default;
  std::uint64_t settled() const { return succeeded + failed_again; }
  std::uint64_t open() const { return moved - settled() - gone; }
};

struct MoveTask {
  TaskKey key;
  Uuid id;
  QueueKey source;
  std::string source_arn;
  std::string destination_arn;
  std::uint32_t rate = 0;
  std::uint64_t to_move = 0;
  TaskPlan plan;
  TaskCounts counts;
  TaskCounts forgiven;  // The counts when it was resumed after it had halted.
  std::uint32_t stage = 0;
  Timestamp started_wall;
  Timestamp ended_wall;
  TaskStatus status = TaskStatus::running;
  std::string failure;  // Or why it is paused or halted.
};

}  // namespace redrive::queue
