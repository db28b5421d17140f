#include "functions/runtime/interpreters.h"

#include <gtest/gtest.h>

namespace redrive::runtime {
namespace {

TEST(Interpreters, VersionsAreRead) {
  EXPECT_EQ(version_in("Python 3.11.2\n"), "python3.11.2");
  EXPECT_EQ(version_in("v18.19.0\n"), "nodejs18.19.0");
  EXPECT_EQ(version_in("Python 3.13.0rc1"), "python3.13.0");
  EXPECT_EQ(version_in("sh: 1: not found"), "");
  EXPECT_EQ(version_in(""), "");
}

TEST(Interpreters, AnotherVersionThanAskedForIsWarnedOf) {
  EXPECT_EQ(interpreter_warning("python3.11", "python3.11.2"), "");
  EXPECT_EQ(interpreter_warning("nodejs18.x", "nodejs18.19.0"), "");
  EXPECT_EQ(interpreter_warning("python3.11", ""), "");
  EXPECT_EQ(interpreter_warning("provided.al2", "python3.11.2"), "");
  EXPECT_NE(interpreter_warning("python3.1", "python3.11.2"), "");
  EXPECT_NE(interpreter_warning("nodejs20.x", "nodejs18.19.0"), "");
  EXPECT_EQ(
      interpreter_warning("python3.9", "python3.11.2"),
      "python3.9 is not installed on this server: the function runs on Python 3.11.2. Install "
      "python3.9, or set the function's Runtime to the version that runs it.");
}

TEST(Interpreters, ThePythonOfThisMachineIsFound) {
  const Interpreter found = interpreter_for("python3");
  EXPECT_FALSE(found.program.empty());
  EXPECT_TRUE(found.version.starts_with("python3.")) << found.version;
  EXPECT_EQ(interpreter_for("http").program, "");
}

}  // namespace
}  // namespace redrive::runtime
