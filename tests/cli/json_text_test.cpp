#include "cli/term/json_text.h"

#include <gtest/gtest.h>

namespace redrive::cli {
namespace {

TEST(PrettyJson, IndentsObjectsAndArrays) {
  EXPECT_EQ(pretty_json(R"({"a":[1,2.50,{}],"b":{"c":"x,{}\"\\"},"d":[ ]})"),
            "{\n"
            "  \"a\": [\n"
            "    1,\n"
            "    2.50,\n"
            "    {}\n"
            "  ],\n"
            "  \"b\": {\n"
            "    \"c\": \"x,{}\\\"\\\\\"\n"
            "  },\n"
            "  \"d\": []\n"
            "}");
}

// Numbers beyond a double's precision must be shown unchanged.
TEST(PrettyJson, KeepsEveryTokenAsWritten) {
  EXPECT_EQ(pretty_json("[ 12345678901234567890 , 1e2 ]"), "[\n  12345678901234567890,\n  1e2\n]");
}

TEST(PrettyJson, LeavesOtherTextAlone) {
  for (const char* text : {"", "  ", "hello", "{", "{\"a\":}", "[1,]", "\"a\"", "12", "{} x"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(pretty_json(text), std::nullopt);
  }
}

}  // namespace
}  // namespace redrive::cli
