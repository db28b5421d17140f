// How messages are combined into the event of a batch.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <string>
#include <vector>

#include "functions/dispatch/letter.h"
#include "functions/dispatch/load.h"
#include "functions/events/event_document.h"
#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

const events::EventFrame kFrames[] = {
    events::event_frame({.arn = "arn:q", .region = "r"}, events::EventFormat::json),
    events::event_frame({.arn = "arn:q", .region = "r"}, events::EventFormat::marshal)};

struct Loads : testing::TestWithParam<events::EventFrame> {
  const events::EventFrame& frame = GetParam();

  bool add(Load& load, std::string_view body) const {
    Item item;
    return load.add(item, {.body = body}, frame);
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, Loads, testing::ValuesIn(kFrames), [](const auto& test) {
  return test.param.format == events::EventFormat::json ? "json" : "marshal";
});

TEST_P(Loads, WriteOneEventInWhichEachRecordCanBeFound) {
  Load load;
  for (const char* body : {"a", "\"b\"", "c"}) ASSERT_TRUE(add(load, body));
  load.close(frame);
  std::vector<std::string_view> records;
  for (const Item& item : load.items)
    records.push_back(std::string_view(load.event).substr(item.record_at, item.record_size));
  EXPECT_EQ(load.event, events::event_document(records, frame));
  const std::string second = events::json_of_record(records[1], frame);
  EXPECT_NE(second.find(R"("body":"\"b\"")"), std::string_view::npos) << second;
}

TEST_P(Loads, AreAsTheyWereAfterWhatDidNotFit) {
  const std::string half(events::kEventBytesMax / 2, 'x');
  Load load;
  ASSERT_TRUE(add(load, half));
  const std::string before = load.event;
  EXPECT_FALSE(add(load, half));
  EXPECT_EQ(load.event, before);
  EXPECT_EQ(load.items.size(), 1u);
  EXPECT_TRUE(add(load, "small"));
}

TEST_P(Loads, FillAnEventToItsLastByte) {
  const std::string large(1000,
                          'x');  // Long enough that its length is encoded like that of the others.
  Load load;
  ASSERT_TRUE(add(load, large));
  const std::size_t record_frame = load.items[0].record_size - large.size();
  const std::size_t more = frame.separator.size() + record_frame + frame.foot.size();
  const std::string rest(events::kEventBytesMax - load.event.size() - more, 'x');
  EXPECT_FALSE(add(load, rest + "x"));
  EXPECT_TRUE(add(load, rest));
  load.close(frame);
  EXPECT_EQ(load.event.size(), events::kEventBytesMax);
}

TEST_P(Loads, TakeTheFirstHoweverLargeItIs) {
  Load load;
  EXPECT_TRUE(add(load, std::string(events::kEventBytesMax, 'x')));
}

struct Records : DispatchWorld {
  // Of eight messages in line.fifo, six fill an event.
  void expect_the_last_two_come_later() {
    start(mapping("line.fifo"));
    ASSERT_EQ(running().size(), 1u);
    EXPECT_EQ(running()[0].size(), 6u);
    take().done({.payload = "null"});
    settle();
    ASSERT_EQ(running().size(), 1u);
    ASSERT_EQ(running()[0].size(), 2u);
    EXPECT_EQ(running()[0][0][0], '6');
  }
};

// One RecordMaker describes all messages: nothing of the previous one may remain.
TEST_F(Records, HaveNothingOfTheirNeighbours) {
  const std::array<store::AttributeView, 1> attributes = {{{"kind", "String", "x"}}};
  const std::vector<Letter> letters = {
      Letter({.body = "rich", .sender = "s", .trace = "Root=1", .attributes = attributes}),
      Letter({.body = "poor"})};
  ASSERT_TRUE(world.engine().send(identity_of("orders"), drafts_of(letters)).has_value());
  start(mapping());
  ASSERT_EQ(invoker.calls.size(), 1u);
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(invoker.calls[0].event());
  const auto rich = document["Records"].at(0);
  const auto poor = document["Records"].at(1);
  EXPECT_EQ(std::string_view(rich["attributes"]["SenderId"]), "s");
  EXPECT_EQ(std::string_view(rich["messageAttributes"]["kind"]["stringValue"]), "x");
  EXPECT_EQ(simdjson::dom::object(poor["attributes"]).size(), 3u);
  EXPECT_EQ(simdjson::dom::object(poor["messageAttributes"]).size(), 0u);
  EXPECT_TRUE(poor["md5OfMessageAttributes"].error());
  for (const char* name : {"messageId", "receiptHandle", "md5OfBody"})
    EXPECT_NE(std::string_view(rich[name]), std::string_view(poor[name])) << name;
}

// What did not fit into the event comes after it, not in parallel.
TEST_F(Records, OfAFifoQueueStayInOrderWhenAnEventIsFull) {
  world.create("line.fifo", engine::fifo_settings());
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 8; ++i) world.send("line.fifo", std::to_string(i) + large);
  expect_the_last_two_come_later();
}

TEST_F(Records, OfAFifoQueueDoNotOvertakeOneThatDidNotFit) {
  world.create("line.fifo", engine::fifo_settings());
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 7; ++i) world.send("line.fifo", std::to_string(i) + large);
  world.send("line.fifo", "7: small enough");
  expect_the_last_two_come_later();
}

}  // namespace
}  // namespace redrive::dispatch
