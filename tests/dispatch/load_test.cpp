// How messages become the event of a batch.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <string>
#include <vector>

#include "dispatch/letter.h"
#include "dispatch/load.h"
#include "events/event_document.h"
#include "tests/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

const std::string kFoot = events::record_foot({.arn = "arn:q", .region = "r"});

bool add(Load& load, std::string_view body) {
  Item item;
  return load.add(item, {.body = body}, kFoot);
}

TEST(Load, WritesOneEventInWhichEachRecordCanBeFound) {
  Load load;
  for (const char* body : {"a", "\"b\"", "c"}) ASSERT_TRUE(add(load, body));
  load.close();
  std::vector<std::string_view> records;
  for (const Item& item : load.items)
    records.push_back(std::string_view(load.event).substr(item.record_at, item.record_size));
  EXPECT_EQ(load.event, events::event_document(records));
  EXPECT_NE(records[1].find(R"("body":"\"b\"")"), std::string_view::npos) << records[1];
}

TEST(Load, IsAsItWasAfterWhatDidNotFit) {
  const std::string half(events::kEventBytesMax / 2, 'x');
  Load load;
  ASSERT_TRUE(add(load, half));
  const std::string before = load.event;
  EXPECT_FALSE(add(load, half));
  EXPECT_EQ(load.event, before);
  EXPECT_EQ(load.items.size(), 1u);
  EXPECT_TRUE(add(load, "small"));
}

TEST(Load, FillsAnEventToItsLastByte) {
  Load measure;
  add(measure, "");
  const std::size_t empty_record = measure.items[0].record_size;
  const std::size_t frame = events::kEventHead.size() + events::kEventFoot.size() + 1;
  const std::string rest(events::kEventBytesMax - frame - 2 * empty_record, 'x');
  Load load;
  ASSERT_TRUE(add(load, ""));
  EXPECT_FALSE(add(load, rest + "x"));
  EXPECT_TRUE(add(load, rest));
  load.close();
  EXPECT_EQ(load.event.size(), events::kEventBytesMax);
}

TEST(Load, TakesTheFirstHoweverLargeItIs) {
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

// One maker describes all messages: nothing may stay of the one before.
TEST_F(Records, HaveNothingOfTheirNeighbours) {
  const std::array<store::AttributeView, 1> attributes = {{{"kind", "String", "x"}}};
  const std::vector<Letter> letters = {
      Letter({.body = "rich", .sender = "s", .trace = "Root=1", .attributes = attributes}),
      Letter({.body = "poor"})};
  ASSERT_TRUE(world.engine().send(identity_of("orders"), drafts_of(letters)).has_value());
  start(mapping());
  ASSERT_EQ(invoker.calls.size(), 1u);
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(invoker.calls[0].what.payload.text());
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

// What did not fit into the event comes after it, not beside it.
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
