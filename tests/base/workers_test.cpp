#include "base/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "tests/base/eventually.h"

namespace redrive {
namespace {

using namespace std::chrono_literals;

TEST(Workers, RunTasksInOrder) {
  std::vector<int> done;
  std::promise<void> last;
  Workers workers(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(workers.run([&done, i] { done.push_back(i); }));
  }
  EXPECT_TRUE(workers.run([&last] { last.set_value(); }));
  ASSERT_EQ(last.get_future().wait_for(30s), std::future_status::ready);
  ASSERT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Workers, ATaskThatHangsDelaysNoOther) {
  std::promise<void> release;
  auto released = release.get_future();
  std::promise<void> passed;
  Workers workers(2);
  workers.run([&] { released.wait(); });
  workers.run([&] { passed.set_value(); });
  EXPECT_EQ(passed.get_future().wait_for(20s), std::future_status::ready);
  release.set_value();
}

TEST(Workers, RunTasksInTheOrderOfTheirTimesAndNotTooEarly) {
  std::vector<int> done;
  std::promise<void> all_added;
  std::promise<Workers::Clock::time_point> ended;
  auto last = ended.get_future();
  Workers workers(1);
  workers.run([&] { all_added.get_future().wait(); });  // Holds the only thread until then.
  const auto now = Workers::Clock::now();
  workers.run_at(now + 40ms, [&] { ended.set_value(Workers::Clock::now()); });
  workers.run_at(now + 20ms, [&] { done.push_back(2); });
  workers.run_at(now, [&] { done.push_back(1); });
  all_added.set_value();
  ASSERT_EQ(last.wait_for(30s), std::future_status::ready);
  EXPECT_GE(last.get(), now + 40ms);
  EXPECT_EQ(done, (std::vector{1, 2}));
}

// The first task blocks the only thread, so the others are certainly waiting when stop() is called.
struct Stopped {
  int done = 0;
  bool later = false;

  explicit Stopped(Workers::Rest rest) {
    std::promise<void> begun;
    std::promise<void> release;
    Workers workers(1);
    workers.run([&] {
      begun.set_value();
      release.get_future().wait();
    });
    begun.get_future().wait();
    for (int i = 0; i < 3; ++i) workers.run([this] { ++done; });
    workers.run_at(Workers::Clock::now() + 1h, [this] { later = true; });
    std::thread stopping([&] { workers.stop(rest); });
    // Refused once it is stopping.
    EXPECT_TRUE(eventually([&] { return !workers.run([] {}); }));
    release.set_value();
    stopping.join();
  }
};

TEST(Workers, StopCanDropTasksThatHaveNotStarted) {
  const Stopped stopped(Workers::Rest::forget);
  EXPECT_EQ(stopped.done, 0);
  EXPECT_FALSE(stopped.later);
}

TEST(Workers, StopCanFinishDueTasks) {
  const Stopped stopped(Workers::Rest::finish);
  EXPECT_EQ(stopped.done, 3);
  EXPECT_FALSE(stopped.later);
}

}  // namespace
}  // namespace redrive
