#include "cli/client/batch_planner.h"

#include <gtest/gtest.h>

namespace redrive::cli {
namespace {

constexpr std::size_t kMiB = BatchPlanner::kBytesMax;

// The sizes of the batches that messages of these sizes end up in.
std::vector<std::size_t> plan(const std::vector<std::size_t>& sizes) {
  BatchPlanner planner;
  std::vector<std::size_t> batches;
  std::uint64_t number = 0;
  std::uint64_t seen = 0;
  const auto note = [&](const std::optional<Batch>& batch) {
    if (!batch) return;
    batches.push_back(batch->size());
    for (const auto& message : *batch) EXPECT_EQ(message.number, ++seen);
  };
  for (const std::size_t size : sizes) {
    note(planner.add({++number, {.body = std::string(size, 'x')}}));
  }
  note(planner.rest());
  EXPECT_EQ(seen, sizes.size());
  EXPECT_FALSE(planner.rest());
  return batches;
}

TEST(BatchPlanner, KeepsToTenEntriesAndOneMebibyte) {
  using Sizes = std::vector<std::size_t>;
  const struct {
    const char* name;
    Sizes sizes;
    Sizes batches;
  } cases[] = {
      {"none", {}, {}},
      {"one", {1}, {1}},
      {"ten", Sizes(10, 1), {10}},
      {"eleven", Sizes(11, 1), {10, 1}},
      {"exactly full", {kMiB / 2, kMiB / 2}, {2}},
      {"one byte over", {kMiB / 2, kMiB / 2 + 1}, {1, 1}},
      {"too large for any", {1, kMiB + 1, 1}, {1, 1, 1}},
      {"large ones in a row", {kMiB, kMiB}, {1, 1}},
      {"ten that fill it", Sizes(10, kMiB / 10), {10}},
      {"ten that do not fit", Sizes(10, kMiB / 10 + 1), {9, 1}},
      {"tenth overflows, then more", {kMiB - 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {9, 2}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(plan(test.sizes), test.batches);
  }
}

TEST(BatchPlanner, CountsAttributes) {
  BatchPlanner planner;
  const OutgoingMessage message{.body = std::string(kMiB / 2 - 10, 'x'),
                                .attributes = {{"name", "String", "1"}}};
  EXPECT_EQ(message.size(), kMiB / 2 + 1);
  EXPECT_FALSE(planner.add({1, message}));
  EXPECT_EQ(planner.add({2, message})->size(), 1u);
}

}  // namespace
}  // namespace redrive::cli
