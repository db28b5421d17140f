#include "functions/events/item_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace redrive::events {
namespace {

#define ID_A "aaaaaaaa-0000-4000-8000-000000000001"
#define ID_B "bbbbbbbb-0000-4000-8000-000000000002"
#define ID_C "cccccccc-0000-4000-8000-000000000003"
#define REQUEST "dddddddd-0000-4000-8000-000000000004"
#define PY "\t2026-11-18T04:00:00.123Z\t" REQUEST "\t"
#define NODE "2026-11-18T04:00:00.123Z\t" REQUEST "\t"
#define KEY_ERROR                                                                        \
  "Traceback (most recent call last):\n  File \"/var/task/app.py\", line 7, in handle\n" \
  "    store = order[\"store_id\"]\n            ~~~~~^^^^^^^^^^^^\nKeyError: 'store_id'\n"
#define VALUE_ERROR                                                                     \
  "Traceback (most recent call last):\n  File \"/var/task/app.py\", line 9, in price\n" \
  "    return int(text)\nValueError: invalid literal\n"

constexpr std::string_view kMessageIds[] = {ID_A, ID_B, ID_C};

std::string reported(std::string_view failed) {
  std::string list;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (failed[i] != 'F') continue;
    if (!list.empty()) list += ",";
    list += R"({"itemIdentifier":")" + std::string(kMessageIds[i]) + "\"}";
  }
  return R"({"batchItemFailures":[)" + list + "]}";
}

// "TYPE: MESSAGE" per message, "-" if unknown.
std::string causes(const std::string& response, const std::string& log, std::string_view failed) {
  std::vector<bool> flags;
  for (const char c : failed) flags.push_back(c == 'F');
  std::string all;
  for (const ItemCause& cause : item_causes(response, log, kMessageIds, flags)) {
    if (!all.empty()) all += " | ";
    EXPECT_EQ(cause.source == ItemCause::Source::none, cause.error.empty());
    all += cause.error.empty() ? "-" : cause.error.type + ": " + cause.error.message;
  }
  return all;
}

struct LogCase {
  const char* name;
  const char* failed;  // One letter per message: F failed, s succeeded.
  std::string log;
  const char* expected;
};

TEST(ItemCauses, AreReadFromTheLog) {
  const LogCase cases[] = {
      {"nothing", "FFs", "START RequestId: " REQUEST " Version: $LATEST\n", "- | - | -"},
      {"logger.exception with the id",
       "FFs",
       "[ERROR]" PY "failed: " ID_A "\n" KEY_ERROR "[ERROR]" PY ID_B " failed\n" VALUE_ERROR,
       "KeyError: 'store_id' | ValueError: invalid literal | -"},
      {"logger.exception with the id, in another order",
       "FFs",
       "[ERROR]" PY "failed: " ID_B "\n" KEY_ERROR "[ERROR]" PY ID_A " failed\n" VALUE_ERROR,
       "ValueError: invalid literal | KeyError: 'store_id' | -"},
      {"the id before each record's work",
       "FsF",
       "working on " ID_A "\n" KEY_ERROR "working on " ID_B "\nworking on " ID_C "\n" VALUE_ERROR,
       "KeyError: 'store_id' | - | ValueError: invalid literal"},
      {"the id after each record's work",
       "FsF",
       KEY_ERROR "gave up on " ID_A "\ndone with " ID_B "\n" VALUE_ERROR "gave up on " ID_C "\n",
       "KeyError: 'store_id' | - | ValueError: invalid literal"},
      {"an error that a successful record logged",
       "sFF",
       "working on " ID_A "\n" VALUE_ERROR "working on " ID_B "\n" KEY_ERROR "working on " ID_C
       "\n" KEY_ERROR,
       "- | KeyError: 'store_id' | KeyError: 'store_id'"},
      {"worked on at the same time: nothing can be told",
       "FFs",
       "working on " ID_A "\nworking on " ID_B "\nworking on " ID_C "\n" KEY_ERROR VALUE_ERROR,
       "- | - | -"},
      {"one failed: the exception is its own", "sFs", KEY_ERROR, "- | KeyError: 'store_id' | -"},
      {"one failed: the last exception is",
       "sFs",
       VALUE_ERROR "more\n" KEY_ERROR,
       "- | KeyError: 'store_id' | -"},
      {"one failed, worked on at the same time",
       "Fss",
       "working on " ID_A "\nworking on " ID_B "\nworking on " ID_C "\n" KEY_ERROR,
       "KeyError: 'store_id' | - | -"},
      {"one failed, and the log has the exception of another",
       "sFs",
       "[ERROR]" PY "ignored for " ID_A
       " Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'\n",
       "- | - | -"},
      {"two failed, one exception without an id", "FFs", KEY_ERROR, "- | - | -"},
      {"an exception behind the line of a successful record",
       "sFs",
       "done: " ID_A "\n" KEY_ERROR "working: " ID_B "\n",
       "- | KeyError: 'store_id' | -"},
      {"one line with the id and a type",
       "FFs",
       "[ERROR]" PY "message " ID_A " failed: KeyError('store_id')\n[ERROR]" PY ID_B
       ": ValueError: bad\n",
       "KeyError: 'store_id' | ValueError: bad | -"},
      {"one line with the id and words",
       "FFs",
       "could not store " ID_A ": failed\nwill retry " ID_B "\n",
       ": could not store " ID_A ": failed | - | -"},
      {"one failed: an error is named", "sFs", "oops: KeyError: 'x'\n", "- | KeyError: 'x' | -"},
      {"middy",
       "FFs",
       NODE "ERROR\tTypeError: no price\r    at priceOf (/var/task/index.js:3:9)\r    at async "
            "Promise.allSettled (index 0) {\r  [cause]: RangeError: deep\r      at g "
            "(/var/task/index.js:9:1)\r} {\r  messageId: '" ID_B "',\r  body: '{}'\r}\n" NODE
            "ERROR\tError: boom\r    at f (/var/task/index.js:1:1) {\r  "
            "messageId: '" ID_A "'\r}\n",
       "Error: boom | TypeError: no price | -"},
      {"console.error with words in front",
       "FFs",
       NODE "ERROR\t" ID_A " failed Error: boom\r    at f (/var/task/index.js:1:1)\n",
       "Error: boom | - | -"},
      {"stack on lines of its own",
       "sFs",
       "Error: boom\n    at f (/var/task/index.js:1:1)\n",
       "- | Error: boom | -"},
      {"java",
       "sFs",
       "java.lang.IllegalStateException: bad\n\tat com.acme.A.f(A.java:1)\nCaused by: "
       "java.io.IOException: gone\n\tat com.acme.B.g(B.java:2)\n\t... 3 more\n",
       "- | java.lang.IllegalStateException: bad | -"},
      {"Powertools' logger, Node.js",
       "FFs",
       R"({"level":"ERROR","message":"x","messageId":")" ID_A
       R"x(","error":{"name":"TypeError","location":"file:///var/task/index.mjs:3","message":"no price","stack":"TypeError: no price\n    at f (file:///var/task/index.mjs:3:9)"}})x"
       "\n"
       R"({"level":"ERROR","message":"failed )" ID_B
       R"(","exception":"Traceback (most recent call last):\n  File \"/var/task/app.py\", line 7, in handle\nKeyError: 'x'","exception_name":"KeyError"})"
       "\n",
       "TypeError: no price | KeyError: 'x' | -"},
      {"pino",
       "FFs",
       R"x({"level":50,"name":"orders","err":{"type":"TypeError","message":"no","stack":"TypeError: no\n    at f (/var/task/a.js:1:2)"},"id":")x" ID_B
       R"(","msg":"failed"})"
       "\n",
       "- | TypeError: no | -"},
      {"the whole event in one line is about nobody",
       "FFs",
       R"({"Records":[{"messageId":")" ID_A R"("},{"messageId":")" ID_B R"("}]})"
       "\n" KEY_ERROR,
       "- | - | -"},
      {"the middle of the log is missing",
       "Fss",
       "working on " ID_B "\n... 900 bytes omitted ...\n" KEY_ERROR,
       "KeyError: 'store_id' | - | -"},
      {"bytes of any kind",
       "FFs",
       std::string("\0\xff{\"a\n{\n\r\r\r\n\t\t\t\t\n    at \n\n[ERROR]\t\t\t\n-", 38),
       "- | - | -"},
  };
  for (const LogCase& one : cases)
    EXPECT_EQ(causes(reported(one.failed), one.log, one.failed), one.expected) << one.name;
}

TEST(ItemCauses, PythonsTraceHasTheFormOfItsErrorDocuments) {
  const auto found = item_causes(reported("Fss"), KEY_ERROR, kMessageIds, {true, false, false});
  EXPECT_EQ(found[0].source, ItemCause::Source::log);
  EXPECT_EQ(found[0].error.stack,
            "  File \"/var/task/app.py\", line 7, in handle\n    store = order[\"store_id\"]");
}

TEST(ItemCauses, TheResponseComesFirst) {
  const std::string response =
      R"({"batchItemFailures":[{"itemIdentifier":")" ID_A
      R"(","errorType":"OrderError","errorMessage":"bad","stackTrace":["  File \"a.py\", line 1, in f\n"],"cause":{"errorType":"KeyError","errorMessage":"'x'"}},{"itemIdentifier":")" ID_B
      R"("},{"itemIdentifier":")" ID_C R"(","error":{"name":"TypeError","message":"no"}}]})";
  const std::string log =
      "[ERROR]" PY "failed: " ID_A "\n" KEY_ERROR "[ERROR]" PY ID_B " failed\n" VALUE_ERROR;
  EXPECT_EQ(causes(response, log, "FFF"),
            "OrderError: bad | ValueError: invalid literal | TypeError: no");
  const auto found = item_causes(response, log, kMessageIds, {true, true, true});
  EXPECT_EQ(found[0].source, ItemCause::Source::reported);
  EXPECT_EQ(found[1].source, ItemCause::Source::log);
  EXPECT_EQ(found[0].error.stack, "  File \"a.py\", line 1, in f\nCaused by: KeyError: 'x'");
}

TEST(ItemCauses, OddAnswersHaveNone) {
  for (const char* response : {"",
                               "null",
                               "{",
                               "[]",
                               R"({"batchItemFailures":7})",
                               R"({"batchItemFailures":[7,null,{"itemIdentifier":7}]})",
                               R"({"batchItemFailures":[{"itemIdentifier":"x","errorType":"E"}]})"})
    EXPECT_EQ(causes(response, "", "FFF"), "- | - | -") << response;
  EXPECT_EQ(item_causes("", "", kMessageIds, {}).size(), 3u);
}

std::string attached(const std::string& document) {
  std::string all;
  for (const ItemCause& cause : attached_causes(document, kMessageIds))
    all += (all.empty() ? "" : " | ") + cause.error.type + ": " + cause.error.message;
  return all;
}

TEST(AttachedCauses, BelongToTheRecordsInOrderOrByTheirIds) {
  const std::string a = R"({"errorType":"E1","errorMessage":"a"})";
  const std::string b = R"({"name":"E2","message":"b"})";
  const std::string c = R"({"errorType":"E3","errorMessage":"c"})";
  EXPECT_EQ(attached(R"({"errorType":"FullBatchFailureError","recordErrors":[)" + a + "," + b +
                     "," + c + "]}"),
            "E1: a | E2: b | E3: c");
  EXPECT_EQ(attached(R"({"errors":[)" + a + "," + b + "," + c + "]}"), "E1: a | E2: b | E3: c");
  EXPECT_EQ(attached(R"({"errors":[{"errorType":"E1","messageId":")" ID_C
                     R"("},{"errorType":"E2","messageId":")" ID_B
                     R"("},{"errorType":"E3","messageId":")" ID_A R"("}]})"),
            "E3:  | E2:  | E1: ");
  // Not all of them: then none is certain.
  EXPECT_EQ(attached(R"({"errors":[)" + a + "," + b + "]}"), "");
  EXPECT_EQ(attached(R"({"errors":[)" + a + "," + b + "," + c + "," + a + "]}"), "");
  EXPECT_EQ(attached(R"({"errors":[1,2,3]})"), "");
  for (const char* odd : {"", "{}", "null", "[", R"({"recordErrors":{}})"})
    EXPECT_EQ(attached(odd), "") << odd;
}

// Linear: half a megabyte of any log takes a moment, not minutes.
TEST(ItemCauses, TakeNoLongWhateverTheLog) {
  for (const char* part : {"Traceback (most recent call last):\n",
                           "    at \n",
                           "-",
                           "Error",
                           "\r",
                           "{\"error\":{\n",
                           ID_A "\n",
                           "Error: x\n    at f\n",
                           "\nDuring handling of the above exception\n\n"}) {
    std::string log;
    while (log.size() < 300'000) log += part;
    EXPECT_EQ(item_causes("", log, kMessageIds, {true, true, true}).size(), 3u);
  }
}

}  // namespace
}  // namespace redrive::events
