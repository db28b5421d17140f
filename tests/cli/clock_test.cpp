#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/cli/fake_world.h"

// redrive clock and redrive reset: commands that use the management API.

namespace redrive::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kClock =
    R"({"virtual":true,"now":"2026-01-01T00:15:00.000Z","epochMilliseconds":1767226500000,"waitingReceives":0,"heldSeconds":0})";

struct ManagementCommands : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;
};

TEST_F(ManagementCommands, ClockShowsTheTime) {
  server.answer("GET /_redrive/v1/clock", kClock);
  EXPECT_EQ(world.run({"clock"}).out, "2026-01-01T00:15:00.000Z (virtual)\n");
  EXPECT_EQ(world.run({"clock", "show"}).out, "2026-01-01T00:15:00.000Z (virtual)\n");
  EXPECT_EQ(world.run({"clock", "--json"}).out, std::string(kClock) + "\n");
}

TEST_F(ManagementCommands, ClockAdvanceMovesIt) {
  server.answer("POST /_redrive/v1/clock/advance", kClock);
  EXPECT_EQ(world.run({"clock", "advance", "900"}).out, "2026-01-01T00:15:00.000Z (virtual)\n");
  EXPECT_EQ(world.run({"clock", "advance", "0.25"}).exit_code, 0);
  EXPECT_THAT(server.bodies("POST /_redrive/v1/clock/advance"),
              ElementsAre(R"({"seconds":900})", R"({"seconds":0.25})"));
}

TEST_F(ManagementCommands, ClockRefusesWhatItCannotMean) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"clock", "advance"},
                                                    {"clock", "show", "5"},
                                                    {"clock", "advance", "0"},
                                                    {"clock", "advance", "soon"},
                                                    {"clock", "back", "5"}}) {
    const Outcome outcome = world.run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  }
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(ManagementCommands, TellWhyTheServerSaidNo) {
  server.answer("POST /_redrive/v1/reset",
                R"({"error":{"code":"AccessDenied","message":"This server keeps its messages."}})",
                403);
  const Outcome outcome = world.run({"reset", "--yes"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "redrive: AccessDenied: This server keeps its messages.\n");
}

TEST_F(ManagementCommands, ResetAsksFirst) {
  server.answer("POST /_redrive/v1/reset", R"({"queues":2})");
  EXPECT_EQ(world.run({"reset"}).exit_code, 2);  // There is no terminal to ask.
  EXPECT_TRUE(server.calls.empty());
  EXPECT_EQ(world.run({"reset", "--yes"}).out, "forgot 2 queues\n");
  EXPECT_EQ(world.run({"reset", "--yes", "--json"}).out, "{\"queues\":2}\n");
}

TEST_F(ManagementCommands, SignTheirRequestsAndKeepTheEndpointsPath) {
  server.answer("GET /base/_redrive/v1/clock", kClock);
  const Outcome outcome = world.run({"clock", "--endpoint-url", "http://localhost:1/base/"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::string authorization;
  for (const auto& [name, value] : server.calls.at(0).request.headers) {
    if (iequals(name, "authorization")) authorization = value;
  }
  EXPECT_THAT(authorization, HasSubstr("AWS4-HMAC-SHA256 Credential=test/"));
}

}  // namespace
}  // namespace redrive::cli
