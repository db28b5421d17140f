#include "net/http/poller.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace redrive::http {
namespace {

using std::chrono::milliseconds;

struct Watching final : Poller::Watcher {
  void on_events(std::uint32_t events) override {
    ++calls;
    last = events;
  }
  int calls = 0;
  std::uint32_t last = 0;
};

std::pair<Descriptor, Descriptor> connected() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

TEST(Poller, TellsOfEachArrivalOnce) {
  Poller poller;
  auto [here, there] = connected();
  Watching watching;
  ASSERT_TRUE(poller.watch(here, watching));
  poller.run_once(Poller::Wait::none);  // Writable.
  const int before = watching.calls;
  EXPECT_FALSE(poller.run_once(Poller::Wait::none));
  ASSERT_EQ(::send(there.number(), "a", 1, 0), 1);
  EXPECT_TRUE(poller.run_once(Poller::Wait::allowed));
  EXPECT_EQ(watching.calls, before + 1);
  EXPECT_NE(watching.last & EPOLLIN, 0u);
  EXPECT_FALSE(
      poller.run_once(Poller::Wait::none));  // Not read, so not reported again (edge-triggered).
  there.close();
  EXPECT_TRUE(poller.run_once(Poller::Wait::allowed));
  EXPECT_NE(watching.last & EPOLLRDHUP, 0u);
  here.close();
  EXPECT_FALSE(poller.run_once(Poller::Wait::none));
}

// As during a fork: the child has copies of all descriptors until it execs.
TEST(Poller, TellsNothingOfWhatWasClosedThoughSomebodyHasACopy) {
  Poller poller;
  auto [here, there] = connected();
  Watching watching;
  ASSERT_TRUE(poller.watch(here, watching));
  poller.run_once(Poller::Wait::none);
  const int before = watching.calls;
  const Descriptor copy(::dup(here.number()));
  Descriptor moved = std::move(here);
  moved.close();
  ASSERT_EQ(::send(there.number(), "a", 1, 0), 1);
  EXPECT_FALSE(poller.run_once(Poller::Wait::none));
  EXPECT_EQ(watching.calls, before);
}

TEST(Poller, NapsThroughArrivalsButNotThroughACall) {
  Poller poller;
  auto [here, there] = connected();
  Watching watching;
  ASSERT_TRUE(poller.watch(here, watching));
  poller.run_once(Poller::Wait::none);
  ASSERT_EQ(::send(there.number(), "a", 1, 0), 1);
  auto begin = Poller::Clock::now();
  poller.nap(milliseconds(20));
  EXPECT_GE(Poller::Clock::now() - begin, milliseconds(20));
  EXPECT_TRUE(poller.run_once(Poller::Wait::allowed));  // The wake-up was not lost.
  for (int i = 0; i < 3; ++i) {
    begin = Poller::Clock::now();
    std::jthread caller([&] { poller.wake(); });
    poller.nap(std::chrono::minutes(5));
    EXPECT_LT(Poller::Clock::now() - begin, std::chrono::minutes(1));
    poller.run_once(Poller::Wait::allowed);  // Returns at once because of the wake-up.
  }
  begin = Poller::Clock::now();
  poller.nap(milliseconds(20));
  EXPECT_GE(Poller::Clock::now() - begin, milliseconds(20));  // Earlier wake-ups no longer count.
}

TEST(Poller, RunsErrandsInOrderAndNotInsideThePost) {
  Poller poller;
  std::string ran;
  poller.post([&] {
    ran += 'a';
    poller.post([&] { ran += 'c'; });
  });
  poller.post([&] { ran += 'b'; });
  EXPECT_EQ(ran, "");
  EXPECT_TRUE(poller.run_once(Poller::Wait::allowed));
  EXPECT_EQ(ran, "ab");
  EXPECT_TRUE(poller.has_tasks());
  EXPECT_TRUE(poller.run_once(Poller::Wait::allowed));
  EXPECT_EQ(ran, "abc");
  EXPECT_FALSE(poller.has_tasks());
}

TEST(Poller, CallsTimersOnceAndNotTooEarly) {
  Poller poller;
  int calls = 0;
  Poller::Timer timer(poller, [&] { ++calls; });
  const auto due = Poller::Clock::now() + milliseconds(3);
  timer.set(due);
  while (calls == 0) poller.run_once(Poller::Wait::allowed);
  EXPECT_GE(Poller::Clock::now(), due);
  EXPECT_FALSE(poller.run_once(Poller::Wait::none));
  timer.set(Poller::Clock::now());
  timer.cancel();
  EXPECT_FALSE(poller.run_once(Poller::Wait::none));
  EXPECT_EQ(calls, 1);
}

// Each posted task must end a sleep: hangs if a wake-up is lost.
TEST(Poller, IsWokenByOtherThreads) {
  Poller poller;
  constexpr int kErrands = 2'000;
  int ran = 0;
  std::atomic<int> seen = 0;
  std::thread other([&] {
    for (int i = 0; i < kErrands; ++i) {
      poller.post([&] { seen = ++ran; });
      while (seen.load() <= i) std::this_thread::yield();
    }
  });
  while (ran < kErrands) poller.run_once(Poller::Wait::allowed);
  other.join();
  EXPECT_EQ(ran, kErrands);
}

}  // namespace
}  // namespace redrive::http
