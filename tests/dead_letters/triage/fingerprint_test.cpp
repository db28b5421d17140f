#include "dead_letters/triage/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "dead_letters/triage/normalise.h"

namespace redrive::triage {
namespace {

using testing::HasSubstr;

DeadMessage reported(FailureReport report) {
  return {.failure = report, .source_queue = "orders", .attempts = {.failed = 2}, .body = "{}"};
}

struct Error {
  const char* name;
  FailureReport report;
};

constexpr const char* kPython = R"(Traceback (most recent call last):
  File "/var/runtime/bootstrap.py", line 60, in main
    handle()
  File "/var/task/index.py", line 111, in lambda_handler
    m_process_stat = process_msgs(q_url, event["Records"])
  File "/var/task/index.py", line 85, in process_msgs
    raise KeyError('store_id')
KeyError: 'store_id'
)";

// Another machine, another line, another library below.
constexpr const char* kPythonElsewhere = R"(Traceback (most recent call last):
  File "/home/ana/shop/index.py", line 140, in lambda_handler
    m_process_stat = process_msgs(q_url, event["Records"])
  File "/home/ana/shop/index.py", line 97, in process_msgs
    raise KeyError('store_id')
  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode
KeyError: 'store_id'
)";

constexpr const char* kPythonOther = R"(Traceback (most recent call last):
  File "/var/task/index.py", line 111, in lambda_handler
    m_process_stat = process_msgs(q_url, event["Records"])
  File "/var/task/index.py", line 71, in price_of
    return PRICES[sku]
KeyError: 'store_id'
)";

constexpr const char* kPythonChained = R"(Traceback (most recent call last):
  File "/srv/app/orders/load.py", line 12, in load
    return int(text)
ValueError: invalid literal for int() with base 10: 'x17'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/worker.py", line 9, in run
    load(body)
OrderError: cannot load
)";

constexpr const char* kPythonChainedOther = R"(Traceback (most recent call last):
  File "/srv/app/orders/stock.py", line 30, in reserve
    return stock[sku]
KeyError: 'sku'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/worker.py", line 9, in run
    load(body)
OrderError: cannot load
)";

constexpr const char* kNode = R"(TypeError: Cannot read properties of undefined (reading 'price')
    at priceOf (/usr/src/app/src/pricing.js:17:23)
    at Array.map (<anonymous>)
    at async handle (/usr/src/app/src/handler.js:42:9)
    at async Runtime.run (/usr/src/app/node_modules/sqs-consumer/dist/consumer.js:301:5)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
)";

constexpr const char* kNodeElsewhere =
    R"(TypeError: Cannot read properties of undefined (reading 'price')
    at priceOf (file:///C:/work/shop/src/pricing.js:19:3)
    at async handle (file:///C:/work/shop/src/handler.js:50:11)
    at async run (file:///C:/work/shop/node_modules/other/x.js:1:5)
)";

constexpr const char* kNodeMinified = R"(TypeError: t is not a function
    at o (/app/dist/main.8f3a2b1c.js:1:48213)
    at /app/dist/main.8f3a2b1c.js:1:99
)";
constexpr const char* kNodeMinifiedNext = R"(TypeError: t is not a function
    at o (/app/dist/main.77aa01bd.js:1:51002)
    at /app/dist/main.77aa01bd.js:1:120
)";

constexpr const char* kJava = R"(java.lang.IllegalStateException: order 17 has no store
	at com.acme.orders.Handler.handle(Handler.java:42)
	at com.acme.orders.Handler$$Lambda$14/0x0000000800c03000.accept(Unknown Source)
	at java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
	at com.acme.Main.lambda$main$0(Main.java:12)
	at org.springframework.jms.listener.Container.run(Container.java:1090)
Caused by: java.lang.NullPointerException: Cannot invoke "Store.name" of null
	at com.acme.orders.Stores.find(Stores.java:88)
	at com.acme.orders.Handler.handle(Handler.java:40)
	... 5 more
)";
constexpr const char* kJavaElsewhere =
    R"(Exception in thread "worker-3" java.lang.IllegalStateException: order 9182 has no store
	at app//com.acme.orders.Handler.handle(Handler.java:57)
	at java.base@17.0.2/java.util.ArrayList.forEach(ArrayList.java:1511)
Caused by: java.lang.NullPointerException: Cannot invoke "Store.name" of null
	at app//com.acme.orders.Stores.find(Stores.java:91) ~[orders.jar:2.1]
	at app//com.acme.orders.Handler.handle(Handler.java:55) ~[orders.jar:2.1]
	... 7 more
)";
constexpr const char* kJavaOtherCause = R"(java.lang.IllegalStateException: order 17 has no store
	at com.acme.orders.Handler.handle(Handler.java:42)
Caused by: java.net.SocketTimeoutException: Read timed out
	at java.base/java.net.Socket.read(Socket.java:1)
	at com.acme.orders.Stores.fetch(Stores.java:30)
	... 5 more
)";

constexpr const char* kGo = R"(panic: runtime error: index out of range [5] with length 3

goroutine 34 [running]:
panic({0x4a1c20?, 0xc00001c0a8?})
	/usr/local/go/src/functions/runtime/panic.go:884 +0x213
main.(*Worker).Process(0xc000010000, {0xc00001a0c0, 0x11})
	/src/worker/worker.go:42 +0x1d
main.main.func1()
	/src/worker/main.go:20 +0x25
created by main.main in goroutine 1
	/src/worker/main.go:18 +0x66

goroutine 1 [chan receive]:
main.main()
	/src/worker/main.go:25 +0x99
)";
constexpr const char* kGoElsewhere = R"(panic: runtime error: index out of range [9] with length 2

goroutine 7 [running]:
main.(*Worker).Process(0xc0000aa000, {0xc00004b0c0, 0x2})
	/home/build/src/worker/worker.go:48 +0x2e
main.main.func2()
	/home/build/src/worker/main.go:21 +0x25
)";

constexpr const char* kDotNet = R"(System.InvalidOperationException: Order 17 failed
 ---> System.Collections.Generic.KeyNotFoundException: The given key 'store_id' was not present in the dictionary.
   at System.Collections.Generic.Dictionary`2.get_Item(TKey key)
   at Acme.Orders.Stores.Find(String id) in /src/Orders/Stores.cs:line 31
   --- End of inner exception stack trace ---
   at Acme.Orders.Handler.<HandleAsync>d__5.MoveNext() in /src/Orders/Handler.cs:line 42
   at System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw()
)";
constexpr const char* kDotNetElsewhere = R"(System.InvalidOperationException: Order 18 failed
 ---> System.Collections.Generic.KeyNotFoundException: The given key 'store_id' was not present in the dictionary.
   at System.Collections.Generic.Dictionary`2.get_Item(TKey key)
   at Acme.Orders.Stores.Find(String id) in C:\agent\src\Orders\Stores.cs:line 35
   --- End of inner exception stack trace ---
   at Acme.Orders.Handler.<HandleAsync>d__7.MoveNext() in C:\agent\src\Orders\Handler.cs:line 44
)";

TEST(Fingerprint, GroupsTheSameErrorWhateverTheLineTheMachineAndTheData) {
  const struct {
    const char* name;
    FailureReport one;
    FailureReport other;
    Basis basis;
  } cases[] = {
      {"python",
       {"KeyError", "'store_id'", kPython},
       {"KeyError", "'store_id'", kPythonElsewhere},
       Basis::frames},
      {"python, type from the trace", {"", "", kPython}, {"KeyError", "", kPython}, Basis::frames},
      {"node",
       {"TypeError", "Cannot read properties of undefined", kNode},
       {"TypeError", "Cannot read properties of undefined", kNodeElsewhere},
       Basis::frames},
      {"node, minified",
       {"TypeError", "", kNodeMinified},
       {"TypeError", "", kNodeMinifiedNext},
       Basis::frames},
      {"java", {"", "", kJava}, {"", "", kJavaElsewhere}, Basis::frames},
      {"go", {"panic", "", kGo}, {"panic", "", kGoElsewhere}, Basis::frames},
      {"c#", {"", "", kDotNet}, {"", "", kDotNetElsewhere}, Basis::frames},
      {"message with an order's number",
       {"NotFound", "order 17 not found"},
       {"NotFound", "order 98213 not found"},
       Basis::message},
      {"explicit", {"A", "x", kPython, "my-key"}, {"B", "y", "", "my-key"}, Basis::explicit_key},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const Fingerprint a = fingerprint(reported(one.one));
    const Fingerprint b = fingerprint(reported(one.other));
    EXPECT_EQ(a.id.text(), b.id.text()) << a.reason << "\n" << b.reason;
    EXPECT_EQ(a.basis, one.basis);
    EXPECT_EQ(b.basis, one.basis);
    EXPECT_FALSE(a.title.empty());
    EXPECT_THAT(a.reason, testing::EndsWith("."));
  }
}

// Runtimes report chains as documents, which are stored as "Caused by:" sections: the root cause
// decides as in the text printed by a logger.
TEST(Fingerprint, ChainsOfDocumentsAreThoseOfTexts) {
  const std::string python = R"(  File "/var/task/worker.py", line 9, in run
    load(body)
Caused by: ValueError: invalid literal for int() with base 10: 'x99'
  File "/var/task/orders/load.py", line 12, in load
    return int(text))";
  const std::string node = R"(OrderError: cannot load
    at run (/var/task/worker.js:9:1)
Caused by: TypeError: no price
    at load (/var/task/load.js:3:4))";
  const std::string node_text = R"(OrderError: cannot load
    at run (/srv/task/worker.js:11:1) {
  [cause]: TypeError: no price
      at load (/srv/task/load.js:5:4)
})";
  const auto id = [](std::string_view stack) {
    return fingerprint(reported({"OrderError", "cannot load", stack})).id;
  };
  std::string printed = kPythonChained;
  for (auto at = printed.find("/srv/app"); at != printed.npos; at = printed.find("/srv/app"))
    printed.replace(at, 8, "/var/task");
  EXPECT_EQ(id(python), id(printed));
  EXPECT_EQ(id(node), id(node_text));
  EXPECT_NE(id(python), id(python.substr(0, python.find("Caused by"))));
  // The same outer location, another inner one.
  std::string other = python;
  other.replace(other.find("in load\n"), 7, "in stow");
  EXPECT_NE(id(python), id(other));
  EXPECT_THAT(
      fingerprint(reported({"OrderError", "cannot load", python})).reason,
      testing::StartsWith("Same root cause ValueError and same in-app stack frames, line numbers "
                          "aside: load in orders/load.py"));
}

TEST(Fingerprint, OneRootCauseWrappedInTwoWaysIsOneGroup) {
  std::string wrapped = kPythonChained;
  const std::string outer = "OrderError: cannot load";
  wrapped.replace(wrapped.find(outer), outer.size(), "BatchError: 1 of 9 failed");
  std::string wrapped_twice = kPythonChained;
  wrapped_twice += R"(
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in main
    run()
RuntimeError: worker failed
)";
  const auto id = fingerprint(reported({"OrderError", "cannot load", kPythonChained})).id;
  EXPECT_EQ(fingerprint(reported({"BatchError", "1 of 9 failed", wrapped})).id, id);
  EXPECT_EQ(fingerprint(reported({"RuntimeError", "worker failed", wrapped_twice})).id, id);
}

TEST(Fingerprint, KeepsDifferentErrorsApart) {
  const Error errors[] = {
      {"python", {"KeyError", "'store_id'", kPython}},
      {"python, other function", {"KeyError", "'store_id'", kPythonOther}},
      {"python, other type", {"ValueError", "'store_id'", kPython}},
      {"python, chained", {"OrderError", "cannot load", kPythonChained}},
      {"python, other cause", {"OrderError", "cannot load", kPythonChainedOther}},
      {"node", {"TypeError", "", kNode}},
      {"node, minified", {"TypeError", "", kNodeMinified}},
      {"java", {"", "", kJava}},
      {"java, other cause", {"", "", kJavaOtherCause}},
      {"go", {"panic", "", kGo}},
      {"c#", {"", "", kDotNet}},
      {"message", {"NotFound", "order 17 not found"}},
      {"other message", {"NotFound", "store 17 not found"}},
      {"a key by name", {"KeyError", "'store_id'"}},
      {"another key", {"KeyError", "'sku'"}},
      {"type alone", {"KeyError"}},
      {"explicit", {"", "", "", "k1"}},
      {"other explicit", {"", "", "", "k2"}},
      {"explicit as a message", {"", "k1"}},
  };
  std::set<std::string> seen;
  for (const Error& one : errors) {
    EXPECT_TRUE(seen.insert(fingerprint(reported(one.report)).id.text()).second) << one.name;
  }
}

TEST(Fingerprint, HasATitleForPeople) {
  const struct {
    FailureReport report;
    const char* title;
  } cases[] = {
      {{"KeyError", "'store_id'", kPython}, "KeyError: 'store_id'"},
      {{"", "", kPython}, "KeyError: 'store_id'"},
      {{"NotFound", "order 17 not found"}, "NotFound: order <number> not found"},
      {{"", "", kJava}, "java.lang.IllegalStateException: order <number> has no store"},
      {{"", "", kGo}, "panic: runtime error: index out of range [<number>] with length <number>"},
      {{"", "", "", "stores-v2"}, "stores-v2"},
      {{"Timeout", ""}, "Timeout"},
      {{"", "boom"}, "error: boom"},
      {{"", "", "  at handle (/app/x.js:1:2)"}, "error in handle in x.js"},
      {{"AuthError", "password=hunter2 refused"}, "AuthError: password=*** refused"},
  };
  for (const auto& one : cases) EXPECT_EQ(fingerprint(reported(one.report)).title, one.title);
  const std::string endless(100'000, 'x');
  EXPECT_LE(fingerprint(reported({endless, endless, endless, ""})).title.size(), kTitleBytesMax);
}

TEST(Fingerprint, SaysWhichFramesItWentBy) {
  EXPECT_EQ(
      fingerprint(reported({"KeyError", "'store_id'", kPython})).reason,
      "Same error type KeyError and same in-app stack frames, line numbers aside: process_msgs "
      "in index.py, called by lambda_handler in index.py.");
  // No application frames: library frames are better than none.
  const Fingerprint foreign = fingerprint(reported(
      {"Error", "", "Error: x\n    at f (/app/node_modules/a/b.js:1:2)\n    at node:net:1:2\n"}));
  EXPECT_EQ(foreign.basis, Basis::frames);
  EXPECT_THAT(foreign.reason, HasSubstr("f in "));
}

DeadMessage silent(std::string_view queue, AttemptEnds ends, std::string_view body) {
  return {.source_queue = queue, .attempts = ends, .body = body};
}

TEST(Fingerprint, WithoutAReportGoesByQueueAttemptsAndShape) {
  const AttemptEnds expired{.expired = 2};
  const Fingerprint first = fingerprint(silent("orders", expired, R"({"item":"x","qty":1})"));
  EXPECT_EQ(first.basis, Basis::shape);
  EXPECT_EQ(first.title,
            "no error reported: visibility expired 2 of 2 times, JSON object {item, qty}");
  EXPECT_THAT(first.reason, HasSubstr("(orders)"));

  const struct {
    const char* name;
    DeadMessage message;
    bool together;
  } cases[] = {
      {"other values, other order", silent("orders", expired, R"({"qty":5,"item":"y"})"), true},
      {"received more often", silent("orders", {.expired = 9}, R"({"item":"x","qty":1})"), true},
      {"other queue", silent("returns", expired, R"({"item":"x","qty":1})"), false},
      {"released", silent("orders", {.released = 2}, R"({"item":"x","qty":1})"), false},
      {"other key", silent("orders", expired, R"({"item":"x","count":1})"), false},
      {"other type", silent("orders", expired, R"({"item":"x","qty":"1"})"), false},
      {"text", silent("orders", expired, "hello"), false},
      {"empty", silent("orders", expired, ""), false},
      {"an empty report", {FailureReport{}, "orders", expired, R"({"item":"x","qty":1})"}, true},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(fingerprint(one.message).id == first.id, one.together) << one.name;
  }
}

TEST(Fingerprint, TellsBodiesThatAreNotJson) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty body"},
      {"  \n", "empty body"},
      {"hello", "plain text"},
      {"<order id=\"1\"/>", "XML"},
      {"aGVsbG8gd29ybGQsIGhlbGxvIQ==", "base64"},
      {"[1,2]", "JSON array"},
      {"17", "JSON number"},
      {"{\"broken\":", "plain text"},
  };
  for (const auto& [body, words] : cases) {
    EXPECT_THAT(fingerprint(silent("q", {}, body)).title, testing::EndsWith(words)) << body;
  }
  // Ids used as keys are not part of the shape.
  EXPECT_EQ(fingerprint(silent("q", {}, R"({"ord-17":{"n":1}})")).id,
            fingerprint(silent("q", {}, R"({"ord-18":{"n":4},"ord-19":{"n":1}})")).id);
}

// A recursive function, direct or through a library, fails at the same place whatever the depth.
TEST(Fingerprint, DoesNotDependOnTheDepthOfARecursion) {
  const auto trace = [](int depth, bool through_library) {
    std::string text = "Traceback (most recent call last):\n";
    text += "  File \"/var/task/index.py\", line 10, in handler\n    walk(tree)\n";
    for (int i = 0; i < depth; ++i) {
      text += "  File \"/var/task/tree.py\", line 20, in walk\n    walk(child)\n";
      if (through_library)
        text += "  File \"/usr/lib/python3.11/functools.py\", line 5, in wrapper\n    call()\n";
    }
    return text + "  File \"/var/task/tree.py\", line 30, in leaf\n    raise E\nValueError: x\n";
  };
  const auto id = [&](int depth, bool through_library) {
    const std::string text = trace(depth, through_library);
    return fingerprint(reported({"ValueError", "x", text})).id;
  };
  for (const bool through_library : {false, true}) {
    for (const int depth : {2, 3, 7, 8, 9, 40})
      EXPECT_EQ(id(depth, through_library), id(1, through_library)) << depth;
  }
}

// Stored groups depend on it: changing the rules requires a new kFingerprintVersion.
TEST(Fingerprint, IsTheSameForEver) {
  EXPECT_EQ(fingerprint(reported({"KeyError", "'store_id'", kPython})).id.text(),
            "1561317aca31b992e15a7146c63e304a");
  EXPECT_EQ(fingerprint(reported({"NotFound", "order 17 not found"})).id.text(),
            "20079d651495d86562e55eb67b7ddea4");
  EXPECT_EQ(fingerprint(silent("q", {.expired = 1}, R"({"a":1})")).id.text(),
            "afc35f75d1aa4503afbaa663182de93f");
}

TEST(GroupId, IsReadBack) {
  const GroupId id = fingerprint(silent("q", {}, "x")).id;
  EXPECT_EQ(GroupId::parse(id.text()), id);
  EXPECT_EQ(GroupId::parse("12"), std::nullopt);
  EXPECT_EQ(GroupId::parse(std::string(32, 'g')), std::nullopt);
}

TEST(NormaliseMessage, ReplacesWhatChanges) {
  const std::pair<const char*, const char*> cases[] = {
      {"order 17 failed", "order <number> failed"},
      {"took -3.5s of 1,234,567", "took <number>s of <number>"},
      {"id 8f14e45fceea167a5a36dedd4bea2543", "id <hex>"},
      {"at 0x7ffde3 in f", "at <hex> in f"},
      {"no 2c1e3a52-9d0b-4c1f-8a70-0123456789ab here", "no <uuid> here"},
      {"on 2026-01-31T23:59:59.123Z, or 2026-01-31 10:00", "on <date>, or <date>"},
      {"at 10:00:01", "at <time>"},
      {"mail ana.b@example.com.", "mail <email>."},
      {"GET https://x.example/a?b=1: 500", "GET <url> <number>"},
      {"connect 10.0.0.1:5432", "connect <ip>"},
      {"open /var/data/a.txt: denied", "open <path>: denied"},
      {"open C:\\data\\a.txt", "open <path>"},
      {"user 'alice' and \"bob smith\"", "user '<string>' and \"<string>\""},
      {"missing 'store_id' or 'orderId'", "missing 'store_id' or 'orderId'"},
      {"can't, won't", "can't, won't"},
      {"order-17 in us-east-1", "order-<id> in us-east-<id>"},
      {"ord_8f3k2p9 gone", "<id> gone"},
      {"sha256 of s3", "sha<n> of s<n>"},
      {"a\n\t  b ", "a b"},
      {"", ""},
  };
  for (const auto& [message, expected] : cases) {
    EXPECT_EQ(normalise_message(message, QuotedNames::keep_compound), expected) << message;
  }
  EXPECT_EQ(normalise_message("'sku'", QuotedNames::keep_all), "'sku'");
}

TEST(NormaliseMessage, TakesNoLongWhateverItReads) {
  for (const char* part : {"a.", "'", "1-", "/", "a-1", "x@", "\\\"", "0x", "::"}) {
    std::string text;
    while (text.size() < 100'000) text += part;
    EXPECT_LE(normalise_message(text, QuotedNames::keep_all).size(), 8 * kMessageBytesRead);
  }
}

}  // namespace
}  // namespace redrive::triage
