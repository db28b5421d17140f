// Small parts: concurrency, destinations, plans.

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <vector>

#include "functions/dispatch/concurrency.h"
#include "functions/dispatch/destination.h"
#include "functions/dispatch/plan.h"
#include "functions/dispatch/strand.h"

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

TEST(Concurrency, SaysWhatSlowedItDown) {
  using Slowed = Concurrency::Slowed;
  Concurrency concurrency({.first = 5, .max = 100});
  EXPECT_EQ(concurrency.slowed(), Slowed::no);
  concurrency.failed();
  EXPECT_EQ(concurrency.limit(), 3u);
  EXPECT_EQ(concurrency.slowed(), Slowed::by_errors);
  for (int i = 0; i < 2; ++i) concurrency.succeeded();
  EXPECT_EQ(concurrency.slowed(), Slowed::no);
  concurrency.throttled();
  EXPECT_EQ(concurrency.slowed(), Slowed::by_throttling);
}

// A lack of processes reduces the limit by one at a time, so that it settles at what runs.
TEST(Concurrency, DoesNotCollapseForLackOfProcesses) {
  Concurrency concurrency({.first = 40, .max = 100});
  for (int i = 0; i < 8; ++i) concurrency.crowded();
  EXPECT_EQ(concurrency.limit(), 32u);
  EXPECT_EQ(concurrency.slowed(), Concurrency::Slowed::by_process_limit);
  for (int i = 0; i < 50; ++i) concurrency.crowded();
  EXPECT_EQ(concurrency.limit(), 1u);
}

TEST(Concurrency, FollowsItsRange) {
  Concurrency concurrency({.first = 5, .max = 2});
  EXPECT_EQ(concurrency.limit(), 2u);
  concurrency.adopt({.first = 5, .max = 50});
  EXPECT_EQ(concurrency.limit(), 2u);  // Reduced until something succeeds.
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
