#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "base/text.h"
#include "manage/openapi.h"
#include "manage/routes.h"

// The description that everybody reads, held to the table that the server obeys.

namespace redrive::manage {
namespace {

// In the file's own layout: paths indented by two, their methods by four, their names by six.
std::set<std::string> described() {
  constexpr std::string_view kName = "      operationId: ";
  std::set<std::string> found;
  std::string_view path;
  std::string_view method;
  bool in_paths = false;
  for (std::string_view line : split(openapi_yaml(), '\n')) {
    if (!line.starts_with(' ')) in_paths = line == "paths:";
    if (!in_paths) continue;
    if (line.starts_with(kName)) {
      found.insert(fmt::format("{} {} {}", method, path, line.substr(kName.size())));
    } else if (line.starts_with("  /")) {
      path = line.substr(2, line.size() - 3);
    } else if (line.starts_with("    ") && line[4] != ' ') {
      method = line.substr(4, line.size() - 5);
    }
  }
  return found;
}

// Those of functions are the lambda room's.
std::set<std::string> routed() {
  std::set<std::string> found = {"get /_redrive/v1/functions/{function}/code downloadFunctionCode",
                                 "get /_redrive/v1/functions/{function}/logs showFunctionLogs"};
  for (const Route& route : routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    found.insert(fmt::format("{} {} {}", method, route.pattern, route.operation));
  }
  return found;
}

TEST(OpenApi, HasEveryRouteAndNoOther) {
  EXPECT_EQ(described(), routed());
  EXPECT_TRUE(described().contains("post /_redrive/v1/clock/advance advanceClock"));
}

TEST(OpenApi, HasNoRouteTwice) {
  EXPECT_EQ(routed().size(), routes().size() + 2);
}

}  // namespace
}  // namespace redrive::manage
