#include "core/queue/task_table.h"

#include <gtest/gtest.h>

namespace redrive::queue {
namespace {

constexpr QueueKey kOrders{1};
constexpr QueueKey kOthers{2};

Uuid id_of(std::uint8_t first) {
  Uuid id;
  id.bytes[0] = first;
  return id;
}

MoveTask task_of(std::uint32_t key, QueueKey source, TaskStatus status = TaskStatus::completed) {
  return {.key = static_cast<TaskKey>(key),
          .id = id_of(static_cast<std::uint8_t>(key)),
          .source = source,
          .status = status};
}

TEST(TaskTable, FindsTasksByKeyIdAndSource) {
  TaskTable table;
  table.put(task_of(1, kOrders));
  table.put(task_of(2, kOthers));
  table.put(task_of(3, kOrders, TaskStatus::halted));
  EXPECT_EQ(table.find(TaskKey{2})->source, kOthers);
  EXPECT_EQ(table.find(id_of(3))->key, TaskKey{3});
  EXPECT_EQ(table.find(id_of(4)), nullptr);
  EXPECT_EQ(table.of(kOrders), (std::vector{TaskKey{1}, TaskKey{3}}));
  EXPECT_EQ(table.active(kOrders)->key, TaskKey{3});
  EXPECT_EQ(table.active(kOthers), nullptr);
}

TEST(TaskTable, ForgetsWhatIsErasedOrReplaced) {
  TaskTable table;
  table.put(task_of(1, kOrders));
  MoveTask other = task_of(1, kOthers);
  other.id = id_of(9);
  table.put(other);
  EXPECT_EQ(table.find(id_of(1)), nullptr);
  EXPECT_TRUE(table.of(kOrders).empty());
  EXPECT_EQ(table.of(kOthers).size(), 1u);
  table.put(task_of(2, kOthers));
  table.erase_of(kOthers);
  EXPECT_TRUE(table.all().empty());
  EXPECT_TRUE(table.by_id().empty());
  table.erase(TaskKey{7});
}

}  // namespace
}  // namespace redrive::queue
