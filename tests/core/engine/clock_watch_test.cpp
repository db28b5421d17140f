#include "core/engine/clock_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/engine/engine_world.h"

// A wall clock that is wrong, or that was: no message expires because of it unless somebody, or
// time, confirms it.
namespace redrive::engine {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using Bodies = std::vector<std::string>;

struct ClockJump : testing::Test {
  EngineWorld world;

  ClockJump() {
    world.jump = {};
    world.restart();
    world.create("orders");  // Retention: four days.
    world.send("orders", "kept");
  }

  void restart_after(Duration away) {
    world.clock.advance(away);
    world.notices.clear();
    world.restart();
  }

  // As the maintenance thread does, every second.
  void run_for(Duration time) {
    for (const Timestamp end = world.clock.steady() + time; world.clock.steady() < end;) {
      world.clock.advance(std::min<Duration>(minutes(1), end - world.clock.steady()));
      ASSERT_TRUE(world.engine().maintain().has_value());
    }
  }

  std::size_t messages() { return world.state().messages().size(); }
  bool noticed(std::string_view part) const {
    return std::ranges::any_of(world.notices, [&](const Notice& notice) {
      return notice.weight == Notice::Weight::grave && notice.event.find(part) != std::string::npos;
    });
  }
};

TEST_F(ClockJump, UpToADayAwayCountsAtOnce) {
  const Timestamp before = world.engine().now();
  restart_after(hours(24));
  EXPECT_EQ(world.engine().now(), before + hours(24));
  EXPECT_EQ(world.engine().held_time(), Duration::zero());
  EXPECT_TRUE(world.notices.empty());
}

TEST_F(ClockJump, MoreThanADayAwayIsToldAndExpiresNothingYet) {
  const Timestamp before = world.engine().now();
  restart_after(days(30));
  EXPECT_TRUE(noticed("down for more than a day"));
  EXPECT_EQ(world.engine().now(), before);
  EXPECT_EQ(world.engine().held_time(), Duration(days(30)));
  run_for(minutes(59));
  EXPECT_EQ(messages(), 1u);
  EXPECT_EQ(world.receive("orders"), Bodies{"kept"});
}

// A server that really was off for a month.
TEST_F(ClockJump, IsConfirmedByAClockThatStillAgreesLater) {
  const Timestamp before = world.engine().now();
  restart_after(days(30));
  run_for(hours(1) + minutes(1));
  EXPECT_EQ(world.engine().held_time(), Duration::zero());
  EXPECT_GE(world.engine().now(), before + days(30) + hours(1));
  EXPECT_EQ(messages(), 0u);
  EXPECT_TRUE(noticed("now counts"));
  const Timestamp counted = world.engine().now();
  world.restart();
  EXPECT_GE(world.engine().now(), counted) << "the time that was counted is forgotten";
}

TEST_F(ClockJump, AClockThatIsSetRightMeanwhileTakesTheJumpBack) {
  const Timestamp before = world.engine().now();
  world.clock.jump_wall(days(30));  // Wrong at the start,
  restart_after(minutes(1));
  run_for(minutes(5));
  world.clock.jump_wall(-days(30));  // and corrected.
  run_for(hours(3));
  EXPECT_EQ(messages(), 1u);
  EXPECT_EQ(world.engine().held_time(), Duration::zero());
  EXPECT_EQ(world.engine().now(), before + minutes(1) + minutes(5) + hours(3));
  EXPECT_TRUE(noticed("clock was set"));
}

// The clock was far behind when the server started and was corrected while it ran: nothing was sent
// or received after that, and still the next start knows that no time has passed.
TEST_F(ClockJump, ACorrectionWhileItRunsIsNoTimeAway) {
  world.clock.jump_wall(-days(30));
  restart_after(minutes(1));
  world.send("orders", "with a wrong time");
  world.clock.jump_wall(days(30));
  run_for(minutes(1));
  EXPECT_TRUE(noticed("clock was set"));
  const Timestamp before = world.engine().now();
  restart_after(minutes(2));
  EXPECT_EQ(world.engine().now(), before + minutes(2));
  EXPECT_EQ(world.engine().held_time(), Duration::zero());
  EXPECT_EQ(world.receive("orders"), (Bodies{"kept", "with a wrong time"}));
}

// Days without a record are not days away.
TEST_F(ClockJump, AnIdleServerIsNotTakenForOneThatWasAway) {
  run_for(days(3));
  const Timestamp before = world.engine().now();
  restart_after(minutes(1));
  EXPECT_EQ(world.engine().held_time(), Duration::zero());
  EXPECT_EQ(world.engine().now(), before + minutes(1));
  EXPECT_TRUE(world.notices.empty());
  EXPECT_LT(world.journal.records().size(), 100u);
}

TEST_F(ClockJump, AnOperatorConfirmsIt) {
  restart_after(days(30));
  const int wakes = world.wakes;
  EXPECT_EQ(world.engine().accept_held_time(), Duration(days(30)));
  EXPECT_GT(world.wakes, wakes) << "what is due now is not done";
  EXPECT_EQ(world.receive("orders"), Bodies{});
  EXPECT_EQ(world.engine().accept_held_time(), Duration::zero());
}

TEST_F(ClockJump, ASettingAcceptsOrIgnoresIt) {
  world.jump.policy = JumpPolicy::ignore;
  restart_after(days(30));
  EXPECT_TRUE(noticed("does not count"));
  run_for(hours(2));
  EXPECT_EQ(messages(), 1u);
  world.jump.policy = JumpPolicy::accept;
  restart_after(days(30));
  EXPECT_TRUE(noticed("this time counts"));
  EXPECT_EQ(world.receive("orders"), Bodies{});
}

// Waits that are under way end, and what is hidden becomes visible, when held time is counted.
TEST_F(ClockJump, CountingItIsLikeTimePassing) {
  world.receive("orders", 10, minutes(30));
  restart_after(days(2));
  EXPECT_EQ(world.receive("orders"), Bodies{});
  world.engine().accept_held_time();
  EXPECT_EQ(world.receive("orders"), Bodies{"kept"});
}

}  // namespace
}  // namespace redrive::engine
