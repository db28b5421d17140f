// Calls at a moment of engine time, and queues of the server's own.

#include <vector>

#include "tests/core/engine/engine_world.h"

namespace redrive::engine {
namespace {

TEST(Calls, ComeAtTheirTimeInTheirOrder) {
  EngineWorld world;
  std::vector<int> made;
  const Timestamp start = world.engine().now();
  const auto at = [&](int seconds_from_now, int name) {
    return world.engine().call_at(start + seconds(seconds_from_now), [&, name] {
      EXPECT_EQ(world.engine().now(), start + seconds(name / 10));
      made.push_back(name);
    });
  };
  at(5, 50);
  const CallId cancelled = at(3, 30);
  at(2, 20);
  at(2, 21);
  EXPECT_EQ(world.engine().armed(), start + seconds(2));
  EXPECT_TRUE(world.engine().cancel(cancelled));
  EXPECT_FALSE(world.engine().cancel(cancelled));
  world.pass(seconds(2));
  EXPECT_EQ(made, (std::vector{20, 21}));
  world.pass(seconds(9));
  EXPECT_EQ(made, (std::vector{20, 21, 50}));
}

// What is called may use the engine, and ask to be called again.
TEST(Calls, MayAskForAnother) {
  EngineWorld world;
  int made = 0;
  std::function<void()> again = [&] {
    if (++made < 3) world.engine().call_at(world.engine().now() + seconds(1), again);
  };
  world.engine().call_at(world.engine().now(), again);
  world.pass(seconds(10));
  EXPECT_EQ(made, 3);
}

TEST(HiddenQueue, IsForWhoeverSaysSoOnly) {
  EngineWorld world;
  world.create("f!async");
  QueueIdentity identity = identity_of("f!async");
  EXPECT_FALSE(world.engine().receive(identity, {}, Duration::zero(), {}).answer->has_value());
  identity.of_ours = true;
  EXPECT_TRUE(world.engine().receive(identity, {}, Duration::zero(), {}).answer->has_value());
}

}  // namespace
}  // namespace redrive::engine
