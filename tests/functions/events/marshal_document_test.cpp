// The same event as JSON and as marshal: checked by us, and by Python itself.

#include "functions/events/marshal_document.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "functions/events/event_document.h"

namespace redrive::events {
namespace {

const EventSource kQueue{.arn = "arn:aws:sqs:us-east-2:123456789012:q.fifo", .region = "us-east-2"};
const EventFrame kJson = event_frame(kQueue, EventFormat::json);
const EventFrame kMarshal = event_frame(kQueue, EventFormat::marshal);

// Texts that are hard to encode or to measure.
const std::vector<std::string> kTexts = {
    "",
    "x",
    std::string("\0", 1),
    "\x7f",
    "\t\r\n\b\f\x01\x1f",
    "\"\\/'{}[]:,",
    "Grüße",
    "日本語",
    "🦊",
    "a\u00a0\ufffd\uffff",
    "\xf4\x8f\xbf\xbf",  // The last code point.
    std::string(15, 'a') + "é",
    std::string(63, 'a') + "é" + std::string(64, 'b'),
    std::string(254, 'x'),
    std::string(255, 'x'),
    std::string(256, 'x'),
    std::string(253, 'x') + "é",
    std::string(254, 'x') + "é",
    // Not UTF-8: stored by an earlier version.
    "\xff",
    "String.\xed\xa0\x80",
    "Root=\xc3",
    std::string(300, '\x80'),
    R"({"order": 17, "store": null, "note": "\"quoted\""})",
};

Record record_of(std::string_view text) {
  return {.message_id = "11d6ee51-0000-4302-9e22-7cd8afdaadf5",
          .receipt_handle = "AQEB",
          .body = text,
          .attributes = {{"ApproximateReceiveCount", "1"},
                         {"AWSTraceHeader", text},
                         {"SentTimestamp", "1573251510774"},
                         {"SenderId", text},
                         {"ApproximateFirstReceiveTimestamp", "1573251510775"}},
          .message_attributes = {},
          .md5_of_message_attributes = "m1",
          .md5_of_body = "m2"};
}

std::string encoded(const Record& record, const EventFrame& frame) {
  std::string out;
  append_record(out, record, frame);
  return out;
}

std::string event_of(std::span<const Record> records, const EventFrame& frame) {
  std::vector<std::string> texts;
  for (const Record& record : records) texts.push_back(encoded(record, frame));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return event_document(views, frame);
}

// Every kind of event.
struct Shapes {
  std::deque<std::string> kept;
  std::vector<std::vector<Record>> events;

  Shapes() {
    events.push_back({});
    events.push_back({Record{}});
    for (const std::string& text : kTexts) events.push_back({record_of(text)});
    add_attributes();
    add_large();
    add_random();
    events.emplace_back(10'000, record_of("small"));
  }

  std::string_view keep(std::string text) { return kept.emplace_back(std::move(text)); }

  void add_attributes() {
    Record fifo = record_of("in line");
    fifo.attributes = {{"ApproximateReceiveCount", "1"},
                       {"SentTimestamp", "1573251510774"},
                       {"SequenceNumber", "18849496460467696128"},
                       {"MessageGroupId", "g"},
                       {"SenderId", "AIDAIO23YVJENQZJOL4VO"},
                       {"MessageDeduplicationId", "d"},
                       {"ApproximateFirstReceiveTimestamp", "1573251510775"},
                       {"DeadLetterQueueSourceArn", "arn:dead"}};
    Record attributed = record_of("attributed");
    attributed.message_attributes = {{"retryCount", "Number", "2"},
                                     {"kind.of", "String.custom", "x"},
                                     {"blob", "Binary", std::string_view("\0\1\xff", 3), true},
                                     {"empty", "Binary", "", true}};
    for (const std::string& text : kTexts) {
      attributed.message_attributes.push_back({text, "String", text, false});
      attributed.message_attributes.push_back(
          {keep("binary" + text), "Binary", text, true});  // Names must be unique.
    }
    attributed.message_attributes.push_back({keep(std::string(256, 'n')), "String", "long", false});
    events.push_back({fifo, attributed, Record{}, fifo});
  }
  void add_large() {
    std::string large(1u << 20, 'x');
    events.push_back({record_of(keep(large)), record_of("")});
    large.replace(large.size() - 2, 2, "é");
    Record record = record_of(keep(large));
    record.message_attributes = {{"large", "Binary", large, true}};
    record.message_attributes[0].value = kept.back();
    events.push_back({record});
  }
  void add_random() {
    std::mt19937 random(17);
    for (int event = 0; event < 50; ++event) {
      std::vector<Record> records;
      for (unsigned i = random() % 12; i > 0; --i) {
        Record record = record_of(keep(random_text(random)));
        for (unsigned n = random() % 4; n > 0; --n) {
          record.message_attributes.push_back({keep(std::to_string(n) + random_text(random)),
                                               "String",
                                               keep(random_text(random)),
                                               random() % 2 == 0});
        }
        records.push_back(std::move(record));
      }
      events.push_back(std::move(records));
    }
  }
  std::string random_text(std::mt19937& random) {
    std::string text;
    const bool ascii = random() % 2 == 0;
    for (unsigned i = random() % 300; i > 0; --i)
      text += ascii ? std::string(1, static_cast<char>(random() % 128))
                    : kTexts[random() % kTexts.size()].substr(0, 12);
    // Drop an incomplete character at the end.
    while (!text.empty() && (text.back() & 0x80) != 0) text.pop_back();
    return text;
  }
};

TEST(MarshalDocument, IsTheJsonDocument) {
  for (const auto& records : Shapes().events) {
    EXPECT_EQ(marshal::json_of_event(event_of(records, kMarshal)), event_of(records, kJson));
    for (const Record& record : records)
      EXPECT_EQ(json_of_record(encoded(record, kMarshal), kMarshal), encoded(record, kJson));
  }
}

TEST(MarshalDocument, IsSmallerThanTheJsonDocument) {
  for (const std::string& text : kTexts) {
    const Record record = record_of(text);
    EXPECT_LT(encoded(record, kMarshal).size(), encoded(record, kJson).size()) << text;
  }
}

// Reads pairs of files until there are none and compares them, including key order and types.
constexpr const char* kCompare = R"(
import json, marshal, os, sys
def same(a, b):
    if type(a) is not type(b): return False
    if type(a) is dict: return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if type(a) is list: return len(a) == len(b) and all(map(same, a, b))
    return type(a) is str and a == b
count = 0
while os.path.exists("%d.json" % count):
    expected = json.loads(open("%d.json" % count, "rb").read().decode())
    found = marshal.loads(memoryview(open("%d.marshal" % count, "rb").read()))[1]
    if not same(found, expected): sys.exit("event %d differs" % count)
    count += 1
print(count)
)";

TEST(MarshalDocument, IsReadByPythonAsTheJsonDocumentIs) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("redrive-marshal-" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const Shapes shapes;
  for (std::size_t i = 0; i < shapes.events.size(); ++i) {
    const std::string name = directory / std::to_string(i);
    std::ofstream(name + ".json") << event_of(shapes.events[i], kJson);
    std::ofstream(name + ".marshal") << event_of(shapes.events[i], kMarshal);
  }
  std::ofstream(directory / "compare.py") << kCompare;
  const std::string command =
      "cd " + directory.string() + " && /usr/bin/python3 compare.py > count 2> error";
  const int status = std::system(command.c_str());
  std::ifstream error(directory / "error");
  EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(error), {});
  std::size_t count = 0;
  std::ifstream(directory / "count") >> count;
  EXPECT_EQ(count, shapes.events.size());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace redrive::events
