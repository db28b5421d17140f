#include "net/wire/reported_error.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::wire {
namespace {

ReportedError read(const std::string& json, ErrorFields fields = ErrorFields::document) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  EXPECT_EQ(parser.parse(json).get(document), simdjson::SUCCESS) << json;
  return read_error(document, fields);
}

struct Case {
  const char* name;
  std::string json;
  ReportedError expected;
  ErrorFields fields = ErrorFields::document;
};

TEST(ReadError, UnderstandsWhatRuntimesAndLoggersWrite) {
  const Case cases[] = {
      {"Lambda, Python",
       R"x({"errorType":"KeyError","errorMessage":"'x'","stackTrace":["  File \"a.py\", line 1, in f\n    g()\n","  File \"a.py\", line 2, in g\n"]})x",
       {"KeyError",
        "'x'",
        "  File \"a.py\", line 1, in f\n    g()\n  File \"a.py\", line 2, in g"}},
      {"Lambda, Node.js",
       R"x({"errorType":"TypeError","errorMessage":"no","trace":["TypeError: no","    at f (a.js:1:2)"]})x",
       {"TypeError", "no", "TypeError: no\n    at f (a.js:1:2)"}},
      {"a stack as text",
       R"x({"errorType":"E","stack":"E: m\n    at f (a.js:1:2)\n"})x",
       {"E", "m", "E: m\n    at f (a.js:1:2)"}},
      {"Powertools' logger, Python",
       R"x({"level":"ERROR","message":"failed","exception":"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'","exception_name":"KeyError"})x",
       {"KeyError", "'x'", "  File \"a.py\", line 1, in f"}},
      {"frames as objects",
       R"x({"stack_trace":{"type":"KeyError","value":"'x'","frames":[{"file":"/var/task/a.py","line":3,"function":"f"}]}})x",
       {"KeyError", "'x'", "  File \"/var/task/a.py\", line 3, in f"}},
      {"a logger's own name is no type", R"x({"name":"orders","message":"all is well"})x", {}},
      {"an error object",
       R"x({"name":"TypeError","message":"no","stack":"TypeError: no\n    at f (a.js:1:2)"})x",
       {"TypeError", "no", "TypeError: no\n    at f (a.js:1:2)"},
       ErrorFields::object},
      {"odd types are ignored", R"x({"errorType":["x"],"errorMessage":{},"stackTrace":{}})x", {}},
      {"not an object", "[1]", {}},
  };
  for (const Case& one : cases) {
    const ReportedError error = read(one.json, one.fields);
    EXPECT_EQ(error.type, one.expected.type) << one.name;
    EXPECT_EQ(error.message, one.expected.message) << one.name;
    EXPECT_EQ(error.stack, one.expected.stack) << one.name;
  }
}

TEST(ReadError, CausesFollowTheStack) {
  const ReportedError error = read(
      R"x({"errorType":"OrderError","errorMessage":"bad","trace":["OrderError: bad","    at f (a.js:1:2)"],
          "cause":{"errorType":"TypeError","errorMessage":"no\nprice","trace":["TypeError: no","price","    at g (b.js:1:2)"],
                   "cause":"socket closed"}})x");
  EXPECT_EQ(error.type, "OrderError");
  EXPECT_EQ(error.stack,
            "OrderError: bad\n    at f (a.js:1:2)\nCaused by: TypeError: no price\n"
            "    at g (b.js:1:2)\nCaused by: socket closed");
}

TEST(ReadError, OfALongChainTheFirstAndTheLastCausesStay) {
  std::string json;
  for (int i = 0; i < 9; ++i) json += R"({"errorType":"E)" + std::to_string(i) + R"(","cause":)";
  json += "null" + std::string(9, '}');
  EXPECT_EQ(read(json).stack,
            "Caused by: E1\nCaused by: E5\nCaused by: E6\nCaused by: E7\nCaused by: E8");
}

TEST(ReadTrace, PythonsChainIsTurnedRound) {
  const ReportedError error = read_trace(R"(Traceback (most recent call last):
  File "/var/task/a.py", line 1, in load
    return int(text)
           ^^^^^^^^^
ValueError: invalid literal

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/var/task/a.py", line 9, in run
    load(body)
shop.errors.OrderError: cannot load
)");
  EXPECT_EQ(error.type, "OrderError");
  EXPECT_EQ(error.message, "cannot load");
  EXPECT_EQ(error.stack,
            "  File \"/var/task/a.py\", line 9, in run\n    load(body)\n"
            "Caused by: ValueError: invalid literal\n"
            "  File \"/var/task/a.py\", line 1, in load\n    return int(text)");
}

TEST(ReadTrace, NodesConsoleAndJava) {
  const ReportedError node = read_trace(
      "OrderError: bad\n    at f (a.js:1:2) {\n  [cause]: TypeError: no\n      at g (b.js:1:2)");
  EXPECT_EQ(node.type, "OrderError");
  EXPECT_EQ(node.stack,
            "OrderError: bad\n    at f (a.js:1:2)\nCaused by: TypeError: no\n"
            "      at g (b.js:1:2)");
  const ReportedError java = read_trace(
      "com.acme.OrderException: bad\n\tat com.acme.A.f(A.java:1)\n"
      "Caused by: java.lang.NullPointerException: x\n\tat com.acme.B.g(B.java:2)\n\t... 5 more\n");
  EXPECT_EQ(java.type, "com.acme.OrderException");
  EXPECT_EQ(java.stack,
            "com.acme.OrderException: bad\n\tat com.acme.A.f(A.java:1)\n"
            "Caused by: java.lang.NullPointerException: x\n\tat com.acme.B.g(B.java:2)");
}

TEST(SplitHeader, FindsTypeAndMessage) {
  const struct {
    const char* text;
    const char* type;
    const char* message;
  } cases[] = {
      {"KeyError: 'x'", "KeyError", "'x'"},
      {"KeyError('x')", "KeyError", "'x'"},
      {"a.b.Error: x: y", "a.b.Error", "x: y"},
      {"KeyError", "KeyError", ""},
      {"TypeError [ERR_X]: no", "TypeError", "no"},
      {"it went wrong", "", ""},
      {"", "", ""},
      {"(", "", ""},
      {"E(", "", ""},
      {"17: x", "", ""},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(split_header(one.text).type, one.type) << one.text;
    EXPECT_EQ(split_header(one.text).message, one.message) << one.text;
  }
}

}  // namespace
}  // namespace redrive::wire
