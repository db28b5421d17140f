#include "observe/topology/doctor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/topology/shell.h"

namespace redrive::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::string arn(std::string_view name) {
  return fmt::format("arn:aws:sqs:us-east-1:000000000000:{}", name);
}

Queue plain(std::string_view name, Duration retention = 24h * 4) {
  return {.arn = arn(name),
          .fifo = name.ends_with(".fifo"),
          .retention = retention,
          .visibility_timeout = 30s};
}

// orders with the dead-letter queue orders-dlq, without any problem.
struct Pair {
  Queue source = plain("orders");
  Queue dlq = plain("orders-dlq", 24h * 14);

  Pair() { source.target = {.arn = dlq.arn, .receive_count_max = 5}; }
  std::vector<Finding> examined() const { return examine(Topology({source, dlq}, {}, handlers)); }
  // A mapping without any problem.
  Handler& feed(Duration timeout) {
    return handlers.emplace_back(Handler{
        .mapping = "u-1", .queue_arn = source.arn, .function = "charge", .timeout = timeout});
  }
  std::vector<Handler> handlers;
};

std::vector<std::string> told(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    out.push_back(fmt::format("{} {} {}", name_of(finding.severity), finding.rule, finding.queue));
  }
  return out;
}

struct DoctorCase {
  const char* name;
  void (*spoil)(Pair&);
  std::vector<std::string> findings;
  const char* fix = "";
};

class Doctor : public testing::TestWithParam<DoctorCase> {};

TEST_P(Doctor, Finds) {
  Pair pair;
  GetParam().spoil(pair);
  const auto findings = pair.examined();
  EXPECT_EQ(told(findings), GetParam().findings);
  if (findings.size() == 1) {
    EXPECT_EQ(findings[0].fix, GetParam().fix);
  }
}

const DoctorCase kCases[] = {
    {"nothing", [](Pair&) {}, {}},
    {"retention",
     [](Pair& p) { p.dlq.retention = p.source.retention; },
     {"problem dlq-retention orders"},
     "redrive queue set orders-dlq MessageRetentionPeriod=1209600"},
    {"retention_at_its_longest",
     [](Pair& p) { p.source.retention = p.dlq.retention; },
     {"problem dlq-retention orders"},
     "redrive queue set orders MessageRetentionPeriod=345600"},
    {"retention_of_fifo_begins_anew",
     [](Pair& p) {
       p.source.fifo = p.dlq.fifo = true;
       p.dlq.retention = p.source.retention;
     },
     {}},
    {"few_receives",
     [](Pair& p) { p.source.target->receive_count_max = 2; },
     {"warning few-receives orders"},
     "redrive queue set orders 'RedrivePolicy={\"deadLetterTargetArn\":"
     "\"arn:aws:sqs:us-east-1:000000000000:orders-dlq\",\"maxReceiveCount\":5}'"},
    {"damaged",
     [](Pair& p) { p.source.damaged = 2; },
     {"problem damaged-messages orders"},
     "redrive queue damaged ls orders"},
    {"enough_receives", [](Pair& p) { p.source.target->receive_count_max = 3; }, {}},
    {"no_visibility",
     [](Pair& p) { p.source.visibility_timeout = 0s; },
     {"problem short-visibility orders"},
     "redrive queue set orders VisibilityTimeout=30"},
    {"short_visibility",
     [](Pair& p) { p.source.visibility_timeout = 4s; },
     {"warning short-visibility orders"},
     "redrive queue set orders VisibilityTimeout=30"},
    {"enough_visibility", [](Pair& p) { p.source.visibility_timeout = 5s; }, {}},
    {"denied",
     [](Pair& p) { p.dlq.allow.permission = AllowPolicy::Permission::none; },
     {"problem dlq-refuses orders"},
     "redrive queue set orders-dlq 'RedriveAllowPolicy={\"redrivePermission\":\"allowAll\"}'"},
    {"not_in_the_list",
     [](Pair& p) {
       p.dlq.allow = {.permission = AllowPolicy::Permission::by_queue, .source_arns = {"arn:x"}};
     },
     {"problem dlq-refuses orders"},
     "redrive queue set orders-dlq 'RedriveAllowPolicy={\"redrivePermission\":\"byQueue\","
     "\"sourceQueueArns\":[\"arn:x\",\"arn:aws:sqs:us-east-1:000000000000:orders\"]}'"},
    {"in_the_list",
     [](Pair& p) {
       p.dlq.allow = {.permission = AllowPolicy::Permission::by_queue,
                      .source_arns = {p.source.arn}};
     },
     {}},
    {"kinds",
     [](Pair& p) { p.dlq.fifo = true; },
     {"problem kind-mismatch orders"},
     "redrive queue create orders-dlq --attribute MessageRetentionPeriod=1209600 && redrive queue "
     "set orders 'RedrivePolicy={\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:"
     "orders-dlq\",\"maxReceiveCount\":5}'"},
    {"expires_within_a_day",
     [](Pair& p) {
       p.dlq.visible = 3;
       p.dlq.oldest_expires_in = 23h;
     },
     {"problem dead-letters-expire orders-dlq"},
     "redrive dlq export orders-dlq orders-dlq.ndjson"},
    {"expires_later",
     [](Pair& p) {
       p.dlq.visible = 3;
       p.dlq.oldest_expires_in = 25h;
     },
     {}},
    {"a_quarter_of_a_short_life",
     [](Pair& p) {
       p.source.retention = 1h;
       p.dlq.retention = 8h;
       p.dlq.visible = 3;
       p.dlq.oldest_expires_in = 2h;
     },
     {"problem dead-letters-expire orders-dlq"},
     "redrive queue set orders-dlq MessageRetentionPeriod=1209600"},
    {"unread",
     [](Pair& p) { p.source.visible = 1001; },
     {"warning nobody-receives orders"},
     "redrive dlq peek orders"},
    {"read",
     [](Pair& p) {
       p.source.visible = 1001;
       p.source.in_flight = 1;
     },
     {}},
    {"dead_letters_may_wait", [](Pair& p) { p.dlq.visible = 5000; }, {}},
    {"chain",
     [](Pair& p) { p.dlq.target = {.arn = arn("elsewhere"), .receive_count_max = 5}; },
     {"problem dlq-missing orders-dlq", "warning dlq-chain orders-dlq"}},
    {"loop",
     [](Pair& p) {
       p.dlq.target = {.arn = p.source.arn, .receive_count_max = 5};
       p.source.fifo = p.dlq.fifo = true;
     },
     {"problem dlq-loop orders"},
     "redrive queue set orders-dlq RedrivePolicy="},
    {"handler", [](Pair& p) { p.feed(5s); }, {}},
    {"handler_visibility",
     [](Pair& p) { p.feed(5s).window = 1s; },
     {"warning handler-visibility orders"},
     "redrive queue set orders VisibilityTimeout=31"},
    {"handler_visibility_has_an_end",
     [](Pair& p) {
       p.feed(900s * 10);
       p.source.visibility_timeout = 12h;
     },
     {}},
    {"handler_few_receives",
     [](Pair& p) {
       p.feed(5s);
       p.source.target->receive_count_max = 4;
     },
     {"warning handler-few-receives orders"},
     "redrive queue set orders 'RedrivePolicy={\"deadLetterTargetArn\":"
     "\"arn:aws:sqs:us-east-1:000000000000:orders-dlq\",\"maxReceiveCount\":5}'"},
    {"isolated_handlers_need_fewer_receives",
     [](Pair& p) {
       p.feed(5s).isolates = true;
       p.source.target->receive_count_max = 4;
     },
     {}},
    {"batch_fails_together",
     [](Pair& p) { p.feed(5s).batch_size = 10; },
     {"warning batch-fails-together orders"},
     "redrive mapping set u-1 --isolate-retries on"},
    {"fifo_batches_are_not_isolated",
     [](Pair& p) {
       p.feed(5s).batch_size = 10;
       p.handlers[0].isolates = true;
       p.source.fifo = p.dlq.fifo = true;
     },
     {"warning batch-fails-together orders"},
     "redrive mapping set u-1 --bisect on"},
    {"batch_with_item_failures",
     [](Pair& p) {
       p.feed(5s).batch_size = 10;
       p.handlers[0].item_failures = true;
     },
     {}},
    {"batch_that_is_halved",
     [](Pair& p) {
       p.feed(5s).batch_size = 10;
       p.handlers[0].bisects = true;
     },
     {}},
    {"isolated_batch",
     [](Pair& p) {
       p.feed(3s).batch_size = 10;
       p.handlers[0].isolates = true;
     },
     {}},
    {"batch_visibility",
     [](Pair& p) {
       p.feed(4s).batch_size = 10;
       p.handlers[0].isolates = true;
     },
     {"advice batch-visibility orders"},
     "redrive queue set orders VisibilityTimeout=40"},
    {"retries_within_receives", [](Pair& p) { p.feed(5s).retries = 4; }, {}},
    {"retries_beyond_receives",
     [](Pair& p) { p.feed(5s).retries = 5; },
     {"warning handler-retries orders"},
     "redrive queue set orders 'RedrivePolicy={\"deadLetterTargetArn\":"
     "\"arn:aws:sqs:us-east-1:000000000000:orders-dlq\",\"maxReceiveCount\":6}'"},
    {"few_receives_are_told_once",
     [](Pair& p) {
       p.feed(5s);
       p.source.target->receive_count_max = 2;
     },
     {"warning few-receives orders"},
     "redrive queue set orders 'RedrivePolicy={\"deadLetterTargetArn\":"
     "\"arn:aws:sqs:us-east-1:000000000000:orders-dlq\",\"maxReceiveCount\":5}'"},
    {"handler_missing",
     [](Pair& p) { p.feed(5s).timeout.reset(); },
     {"problem handler-missing orders"},
     "redrive mapping rm u-1"},
    {"mapping_disabled",
     [](Pair& p) { p.feed(5s).enabled = false; },
     {"advice mapping-disabled orders"},
     "redrive mapping resume u-1"},
    {"mapping_disabled_and_messages_wait",
     [](Pair& p) {
       p.feed(5s).enabled = false;
       p.source.visible = 1;
     },
     {"warning mapping-disabled orders"},
     "redrive mapping resume u-1"},
    {"mapping_stuck",
     [](Pair& p) { p.feed(5s).stuck = true; },
     {"problem mapping-stuck orders"},
     "redrive logs"},
    {"mapping_short_of_processes",
     [](Pair& p) { p.feed(5s).short_of_processes = true; },
     {"warning function-processes orders"}},
    {"mapping_failing",
     [](Pair& p) {
       p.feed(5s).messages = 10;
       p.handlers[0].failed = 6;
     },
     {"problem mapping-failing orders"},
     "redrive function logs charge"},
    {"mapping_fails_half_the_time",
     [](Pair& p) {
       p.feed(5s).messages = 10;
       p.handlers[0].failed = 5;
     },
     {}},
    {"no_alarm",
     [](Pair& p) { p.dlq.alarmed = false; },
     {"warning dlq-no-alarm orders-dlq"},
     "redrive alarm on orders-dlq"},
    {"alarm", [](Pair& p) { p.dlq.alarmed = true; }, {}},
    {"alarms_are_for_dead_letters", [](Pair& p) { p.source.alarmed = false; }, {}},
    {"alone",
     [](Pair& p) { p.source.target.reset(); },
     {"advice no-dlq orders", "advice no-dlq orders-dlq"}},
};
INSTANTIATE_TEST_SUITE_P(Cases, Doctor, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(DoctorOnMaps, ADeadLetterQueueThatIsGoneIsNamedAndOneNotForUsIsNot) {
  Queue orders = plain("orders");
  orders.target = {.arn = arn("gone"), .receive_count_max = 5};
  const auto findings = examine(Topology({orders}));
  ASSERT_THAT(told(findings), ElementsAre("problem dlq-missing orders"));
  EXPECT_EQ(findings[0].fix,
            "redrive queue create gone --attribute MessageRetentionPeriod=1209600");
  EXPECT_THAT(examine(Topology({orders}, {arn("gone")})), IsEmpty());
}

TEST(DoctorOnMaps, LoopsOfAnyLengthAreToldOnceAlsoWhenQueuesLeadIntoThem) {
  std::vector<Queue> queues;
  for (const char* name : {"c", "a", "b", "tail"}) queues.push_back(plain(name, 24h));
  const auto to = [&](std::size_t from, const char* name) {
    queues[from].target = {.arn = arn(name), .receive_count_max = 5};
    queues[from].fifo = true;  // Makes retention irrelevant.
  };
  to(0, "a"), to(1, "b"), to(2, "c"), to(3, "a");
  const auto findings = examine(Topology(queues));
  ASSERT_THAT(told(findings), ElementsAre("problem dlq-loop a"));
  EXPECT_THAT(findings[0].what, HasSubstr("a -> b -> c -> a"));

  Queue self = plain("self");
  self.fifo = true;
  self.target = {.arn = self.arn, .receive_count_max = 5};
  EXPECT_THAT(told(examine(Topology({self}))), ElementsAre("problem own-dlq self"));
}

TEST(DoctorOnMaps, AdviceForFifoKeepsTheSuffixAndAnExistingQueueIsNotMadeAgain) {
  const auto findings = examine(Topology({plain("a.fifo"), plain("b"), plain("b-dlq")}));
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_THAT(findings[0].fix, testing::StartsWith("redrive queue create a-dlq.fifo "));
  EXPECT_THAT(findings[1].fix, testing::StartsWith("redrive queue set b "));
}

TEST(Shell, QuotesWhatAShellWouldObey) {
  EXPECT_EQ(shell_command({"a", "b c", "$(x)", "it's", ""}), "a 'b c' '$(x)' 'it'\\''s' ''");
}

TEST(Doctor, AQueueThatIsItsOwnDeadLetterQueueHasOneFinding) {
  Pair pair;
  pair.source.target->arn = pair.source.arn;
  pair.source.target->receive_count_max = 1;
  const auto findings = examine(Topology({pair.source}));
  EXPECT_THAT(told(findings), ElementsAre("problem own-dlq orders"));
  EXPECT_EQ(findings[0].fix, "redrive queue set orders RedrivePolicy=");
}

TEST(Doctor, NamesFunctionsWithDamagedEvents) {
  Topology topology(std::vector<Queue>{});
  topology.set_damaged_events({{"resize:live", 1}, {"thumb", 2}});
  const auto findings = examine(topology);
  EXPECT_THAT(told(findings), ElementsAre("problem damaged-events ", "problem damaged-events "));
  EXPECT_EQ(findings[0].what,
            "function resize:live: 1 event is damaged: the stored bytes cannot be read");
  EXPECT_EQ(findings[1].fix, "redrive function damaged ls thumb");
}

TEST(Doctor, NamesKeyFilesThatOtherUsersCanRead) {
  Topology topology(std::vector<Queue>{});
  topology.set_exposed_key_files({{"/etc/redrive.toml", true}, {"/run/my keys", false}});
  const auto findings = examine(topology);
  EXPECT_THAT(told(findings), ElementsAre("problem exposed-key-file ", "advice exposed-key-file "));
  EXPECT_EQ(findings[0].fix, "chmod 600 /etc/redrive.toml");
  EXPECT_THAT(findings[1].what, HasSubstr("the group of the file can read /run/my keys"));
}

TEST(Doctor, NamesTargetsOfAlarmsThatAreNotReached) {
  const auto target = [](std::string alarm, std::string to, std::string state) {
    return NoticeTarget{.alarm = std::move(alarm),
                        .queue = "orders",
                        .target = std::move(to),
                        .state = std::move(state),
                        .error = "refused"};
  };
  Topology topology(std::vector<Queue>{});
  topology.set_notice_targets({target("a", "arn:sns", "unreachable"),
                               target("b", "arn:sns", "unreachable"),
                               target("a", "https://x", "failing"),
                               target("a", "https://y", "given-up"),
                               target("a", "https://z", "delivered"),
                               target("a", "https://w", "unused")});
  const auto findings = examine(topology);
  EXPECT_THAT(told(findings),
              ElementsAre("warning alarm-notice-failing orders",
                          "warning alarm-notice-undelivered orders",
                          "warning alarm-target-unreachable orders"));
  EXPECT_THAT(findings.back().what, HasSubstr("alarm \"a\" and 1 more"));
  EXPECT_EQ(findings.front().fix, "redrive alarm history a");
}

}  // namespace
}  // namespace redrive::topology
