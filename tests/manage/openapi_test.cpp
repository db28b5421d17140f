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

// In the file's own layout: paths indented by two, their methods by four.
std::set<std::string> described() {
  std::set<std::string> found;
  std::string_view path;
  bool in_paths = false;
  for (std::string_view line : split(openapi_yaml(), '\n')) {
    if (!line.starts_with(' ')) in_paths = line == "paths:";
    if (!in_paths || !line.ends_with(':')) continue;
    line.remove_suffix(1);
    if (line.starts_with("  /")) {
      path = line.substr(2);
    } else if (line.starts_with("    ") && line[4] != ' ') {
      found.insert(fmt::format("{} {}", line.substr(4), path));
    }
  }
  return found;
}

// Those of functions are the lambda room's.
std::set<std::string> routed() {
  std::set<std::string> found = {"get /_redrive/v1/functions/{function}/code",
                                 "get /_redrive/v1/functions/{function}/logs"};
  for (const Route& route : routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    found.insert(fmt::format("{} {}", method, route.pattern));
  }
  return found;
}

TEST(OpenApi, HasEveryRouteAndNoOther) {
  EXPECT_EQ(described(), routed());
  EXPECT_TRUE(described().contains("post /_redrive/v1/clock/advance"));
}

TEST(OpenApi, NoRouteIsThereTwice) {
  EXPECT_EQ(routed().size(), routes().size() + 2);
}

}  // namespace
}  // namespace redrive::manage
