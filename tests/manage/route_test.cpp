#include "manage/route.h"

#include <gtest/gtest.h>

namespace redrive::manage {
namespace {

Result<Document> nothing(Call&) {
  return Document{};
}

constexpr Route kRoutes[] = {
    {"GET", "/_redrive/v1/queues", "nothing", auth::Right::look, front::Pace::quick, &nothing},
    {"GET", "/_redrive/v1/queues/all", "nothing", auth::Right::look, front::Pace::quick, &nothing},
    {"GET",
     "/_redrive/v1/queues/{queue}",
     "nothing",
     auth::Right::look,
     front::Pace::quick,
     &nothing},
    {"PUT",
     "/_redrive/v1/queues/{queue}",
     "nothing",
     auth::Right::look,
     front::Pace::quick,
     &nothing},
    {"POST",
     "/_redrive/v1/queues/{queue}/messages/{message}",
     "nothing",
     auth::Right::look,
     front::Pace::quick,
     &nothing},
};

TEST(FindRoute, TheFirstMatchWins) {
  const struct {
    const char* method;
    const char* path;
    int route;
  } cases[] = {
      {"GET", "/_redrive/v1/queues", 0},
      {"GET", "/_redrive/v1/queues/all", 1},
      {"GET", "/_redrive/v1/queues/orders", 2},
      {"PUT", "/_redrive/v1/queues/all", 3},
      {"POST", "/_redrive/v1/queues/orders/messages/17", 4},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.path);
    EXPECT_EQ(find_route(kRoutes, each.method, each.path).route, &kRoutes[each.route]);
  }
}

TEST(FindRoute, ReturnsTheValuesOfNames) {
  const Match match = find_route(kRoutes, "POST", "/_redrive/v1/queues/a%2Fb+c/messages/%7B1%7D");
  const PathParameters expected = {{"queue", "a/b+c"}, {"message", "{1}"}};
  EXPECT_EQ(match.parameters, expected);
}

TEST(FindRoute, ListsTheMethodsOfAPath) {
  const Match match = find_route(kRoutes, "DELETE", "/_redrive/v1/queues/orders");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, "GET, PUT");
}

TEST(FindRoute, FindsNothingElsewhere) {
  for (const char* path : {"",
                           "/",
                           "/_redrive/",
                           "/_redrive/v1",
                           "/_redrive/v1/queues/",
                           "/_redrive/v1/queues/orders/",
                           "/_redrive/v1/queues/orders/messages",
                           "/_redrive/v1/queues//messages/17",
                           "/_redrive/v2/queues",
                           "//_redrive/v1/queues"}) {
    SCOPED_TRACE(path);
    const Match match = find_route(kRoutes, "GET", path);
    EXPECT_EQ(match.route, nullptr);
    EXPECT_EQ(match.allowed, "");
  }
}

}  // namespace
}  // namespace redrive::manage
