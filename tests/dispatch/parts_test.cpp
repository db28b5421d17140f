// The small parts: how many run at once, where things go, what a plan is made of.

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <vector>

#include "dispatch/concurrency.h"
#include "dispatch/definitions.h"
#include "dispatch/destination.h"
#include "dispatch/plan.h"
#include "dispatch/strand.h"
#include "functions/codec.h"
#include "tests/engine/engine_world.h"

namespace redrive::dispatch {
namespace {

Timestamp at(int seconds) {
  return Timestamp(1'000'000 + 1000 * seconds);
}

TEST(Concurrency, GrowsByFiveASecond) {
  Concurrency concurrency({.first = 5, .max = 12});
  EXPECT_EQ(concurrency.limit(), 5u);
  concurrency.saturated(at(0));
  concurrency.saturated(at(0));
  EXPECT_EQ(concurrency.limit(), 10u);
  concurrency.saturated(at(1));
  concurrency.saturated(at(2));
  EXPECT_EQ(concurrency.limit(), 12u);
  concurrency.idle();
  EXPECT_EQ(concurrency.limit(), 5u);
}

TEST(Concurrency, ShrinksWithFailuresAndRecovers) {
  Concurrency concurrency({.first = 5, .max = 100});
  for (int i = 0; i < 20; ++i) concurrency.failed();
  EXPECT_EQ(concurrency.limit(), 1u);
  for (int i = 0; i < 20; ++i) concurrency.succeeded();
  EXPECT_EQ(concurrency.limit(), 5u);
  concurrency.throttled();
  EXPECT_EQ(concurrency.limit(), 2u);
}

TEST(Concurrency, FollowsItsRange) {
  Concurrency concurrency({.first = 5, .max = 2});
  EXPECT_EQ(concurrency.limit(), 2u);
  concurrency.adopt({.first = 5, .max = 50});
  EXPECT_EQ(concurrency.limit(), 2u);  // Slowed until something succeeds.
  concurrency.idle();
  EXPECT_EQ(concurrency.limit(), 5u);
  concurrency.adopt({.first = 5, .max = 3});
  EXPECT_EQ(concurrency.limit(), 3u);
}

TEST(Destination, IsReadFromArnsAndUrls) {
  EXPECT_TRUE(std::holds_alternative<queue::QueueIdentity>(
      *parse_destination("arn:aws:sqs:us-east-1:000000000000:q")));
  EXPECT_TRUE(
      std::holds_alternative<WebhookUrl>(*parse_destination("https://example.org/x?y=z:1")));
  EXPECT_EQ(std::get<BucketName>(*parse_destination("arn:aws:s3:::b")).name, "b");
  const auto function =
      parse_destination("arn:aws:lambda:us-east-1:000000000000:function:f:$LATEST");
  EXPECT_EQ(std::get<functions::FunctionId>(*function).name, "f");
  for (const char* text : {"",
                           "q",
                           "arn:aws:sns:us-east-1:000000000000:t",
                           "ftp://x",
                           "arn:aws:lambda:us-east-1:000000000000:layer:f"}) {
    EXPECT_FALSE(parse_destination(text).has_value()) << text;
  }
}

TEST(RunCounts, AreReadAsTheyWereWritten) {
  const RunCounts counts{.runs = 3, .due_seconds = 99, .retries = {1, 2}};
  const RunCounts read = RunCounts::read(counts.stored(7), 7);
  EXPECT_EQ(read.runs, 3u);
  EXPECT_EQ(read.due_seconds, 99u);
  EXPECT_EQ(read.retries, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(RunCounts::read(counts.stored(7), 8).runs, 0u);
}

TEST(ReadDefinitions, FindsWhatTheCatalogueHas) {
  engine::EngineWorld world;
  functions::Function function;
  function.id = {"000000000000", "us-east-1", "f"};
  function.dead_letter_arn = "arn:aws:sqs:us-east-1:000000000000:dead";
  const std::string arn = function.id.arn();
  functions::Mapping mapping;
  mapping.id = "m";
  mapping.queue_arn = "arn:aws:sqs:us-east-1:000000000000:q";
  functions::InvokeConfig config;
  config.function_arn = arn;
  config.retries_max = 1;
  const auto put = [&](queue::EntryKind kind, const std::string& name, const std::string& text) {
    world.engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::EntryPut{kind, name, text});
    });
  };
  put(queue::EntryKind::function, arn, functions::encode(function));
  put(queue::EntryKind::mapping, "m", functions::encode(mapping));
  put(queue::EntryKind::mapping, "broken", "nonsense");
  put(queue::EntryKind::invoke_config, arn, functions::encode(config));
  std::vector<std::string> log;
  const auto tell = [&](std::string line) { log.push_back(std::move(line)); };
  const Definitions found = read_definitions(
      world.engine(),
      [](const std::string&) { return std::make_shared<const runtime::FunctionSpec>(); },
      tell);
  ASSERT_EQ(found.functions.size(), 1u);
  EXPECT_EQ(found.functions.at(arn).config.retries_max, 1u);
  EXPECT_EQ(found.functions.at(arn).dead_letter_arn, function.dead_letter_arn);
  ASSERT_EQ(found.mappings.size(), 1u);
  EXPECT_EQ(found.mappings[0].queue_arn, mapping.queue_arn);
  EXPECT_EQ(log.size(), 1u);
  const SpecOf nothing = [](const std::string&) { return nullptr; };
  EXPECT_TRUE(read_definitions(world.engine(), nothing, tell).functions.empty());
}

TEST(Strand, DoesOneThingAfterAnother) {
  int rounds = 0;
  std::vector<int> done;
  {
    Strand strand(Strand::Mode::thread, [&] { ++rounds; });
    for (int i = 0; i < 100; ++i) strand.post([&, i] { done.push_back(i); });
    std::promise<void> last;
    strand.after(std::chrono::milliseconds(1), [&] { last.set_value(); });
    last.get_future().wait();
  }
  EXPECT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_GT(rounds, 0);
}

}  // namespace
}  // namespace redrive::dispatch
