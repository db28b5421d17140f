#include <gtest/gtest.h>

#include <csignal>

#include "observe/alarms/dead_letters.h"
#include "observe/alarms/notice.h"
#include "observe/alarms/target.h"

namespace redrive::alarms {
namespace {

TEST(Target, IsWhatItsTextSays) {
  using Kind = Target::Kind;
  EXPECT_EQ(Target::parse("arn:aws:sqs:us-east-1:000000000000:alerts", false).kind, Kind::queue);
  EXPECT_EQ(Target::parse("arn:aws:lambda:us-east-1:000000000000:function:f", false).kind,
            Kind::function);
  EXPECT_EQ(Target::parse("https://example.com/hook", false).kind, Kind::webhook);
  EXPECT_EQ(Target::parse("smtp://mail:25?from=a&to=b", true).kind, Kind::mail);
  EXPECT_EQ(Target::parse("command:/bin/true", true).kind, Kind::command);
  EXPECT_EQ(Target::parse("arn:aws:sns:us-east-1:000000000000:topic", false).kind, Kind::unknown);
  EXPECT_EQ(Target::parse("file:///etc/passwd", false).kind, Kind::unknown);
}

TEST(Target, SecretsInUrlsAreNotShown) {
  EXPECT_EQ(shown_target("smtp://user:secret@mail:25?to=a"), "smtp://***@mail:25/...");
  EXPECT_EQ(shown_target("https://hooks.slack.com/services/T/B/secret"),
            "https://hooks.slack.com/...");
  EXPECT_EQ(shown_target("https://example.com"), "https://example.com");
  EXPECT_EQ(shown_target("arn:aws:sqs:a:b:c"), "arn:aws:sqs:a:b:c");
}

Notice some_notice() {
  Alarm alarm{.account = "000000000000", .region = "us-east-1", .name = "n", .statistic = "Sum"};
  alarm.condition.state = AlarmState::alarm;
  alarm.condition.reason = "because";
  return make_notice(alarm, AlarmState::ok);
}

TEST(Command, GetsTheNoticeAndIsHeldToItsTime) {
  using std::chrono::milliseconds;
  const std::string wants =
      "grep -q '\"NewStateValue\":\"ALARM\"' && test $REDRIVE_ALARM_STATE = ALARM";
  EXPECT_TRUE(run_command(wants, some_notice(), milliseconds(10'000)));
  EXPECT_FALSE(run_command("exit 3", some_notice(), milliseconds(10'000)));
  auto long_one = some_notice();
  long_one.json.append(1 << 20, ' ');  // More than a pipe holds.
  EXPECT_TRUE(run_command(
      "exec <&-; sleep 0.1", long_one, milliseconds(10'000)));  // Does not read its input.
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(run_command("sleep 60", some_notice(), milliseconds(100)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Command, DoesNotInheritThatBrokenPipesAreIgnored) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto ran = run_command("cat > /dev/null; sh -c 'kill -PIPE $$'; test $? -eq 141",
                               some_notice(),
                               std::chrono::milliseconds(10'000));
  std::signal(SIGPIPE, before);
  EXPECT_TRUE(ran);
}

TEST(Webhook, OfAStrangerDoesNotReachThisMachine) {
  const auto refused = post_webhook(
      "http://127.0.0.1:9/", some_notice(), {.outgoing = std::make_shared<http::OutgoingPolicy>()});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("private"), std::string::npos);
  EXPECT_FALSE(post_webhook("file:///etc/passwd", some_notice(), {}));
}

// Errors must not reveal secrets in an address.
TEST(Webhook, ErrorsDoNotNameSecrets) {
  const auto refused = post_webhook(
      "http://user:hunter2@127.0.0.1:9/services/hunter3?key=hunter4", some_notice(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("hunter"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("127.0.0.1:9"), std::string::npos);
}

DeadLetterReading reading(std::uint64_t messages) {
  return {.identity = {"000000000000", "us-east-1", "orders-dlq"},
          .messages = messages,
          .expires_in = std::chrono::days(10),
          .retention = std::chrono::days(14)};
}

TEST(Judge, TellsWhatBeginsAndThatItIsOverAndNothingBetween) {
  const DeadLetterRules rules;
  DeadLetterMemory memory;
  const auto judged = [&](const DeadLetterReading& seen) {
    const DeadLetterVerdict verdict = judge(rules, seen, memory);
    memory = verdict.memory;
    return verdict.tell;
  };
  EXPECT_FALSE(judged(reading(0)));
  EXPECT_TRUE(judged(reading(1)));   // Messages.
  EXPECT_FALSE(judged(reading(5)));  // More of the same.
  DeadLetterReading seen = reading(6);
  seen.last_group = queue::FailureGroupKey{3};
  EXPECT_TRUE(judged(seen));  // A new failure.
  EXPECT_FALSE(judged(seen));
  seen.arrivals = rules.arrivals_per_minute + 1;
  EXPECT_TRUE(judged(seen));  // A flood.
  seen.arrivals = 0;
  EXPECT_FALSE(judged(seen));  // The flood is over, the messages are still there.
  seen.expires_in = std::chrono::hours(3);
  EXPECT_TRUE(judged(seen));  // They will expire soon.
  EXPECT_TRUE(memory.alarming());
  seen = reading(0);
  seen.expires_in.reset();
  seen.last_group = queue::FailureGroupKey{3};
  EXPECT_TRUE(judged(seen));  // All is well.
  EXPECT_FALSE(memory.alarming());
  EXPECT_FALSE(judged(seen));
  EXPECT_EQ(decode_memory(encode(memory)), memory);
}

TEST(Judge, AShortRetentionIsNotAlwaysAboutToEnd) {
  DeadLetterReading seen = reading(1);
  seen.retention = std::chrono::hours(4);
  seen.expires_in = std::chrono::hours(3);
  EXPECT_FALSE(judge({}, seen, {}).memory.expiring);
  seen.expires_in = std::chrono::minutes(59);
  EXPECT_TRUE(judge({}, seen, {}).memory.expiring);
}

TEST(Notice, SaysWhy) {
  Alarm alarm{.account = "000000000000", .region = "us-east-1", .name = "dead letters in q"};
  alarm.condition.state = AlarmState::alarm;
  const Notice notice = make_notice(
      alarm,
      AlarmState::ok,
      {.queue = "q",
       .messages = 24,
       .findings = {"24 dead letters in q."},
       .groups = {{.id = "5f", .title = "KeyError", .status = "new", .count = 24, .fresh = true}},
       .apart = {"24 of 24 lack attribute store_id"},
       .sample = "{\"password\":\"***\"}",
       .commands = {"redrive dlq groups q"}});
  for (const char* part :
       {"24 dead letters in q.", "KeyError", "new", "store_id", "***", "redrive dlq groups q"}) {
    EXPECT_NE(notice.text.find(part), std::string::npos) << part;
  }
  EXPECT_NE(notice.json.find(R"("DeadLetters":{"queue":"q","messages":24)"), std::string::npos)
      << notice.json;
  EXPECT_EQ(notice.title, "ALARM: dead letters in q");
  EXPECT_EQ(slack_json(notice).rfind("{\"text\":\"*ALARM: dead letters in q*", 0), 0u);
}

TEST(Notice, LinksToTheConsoleWhereItsAddressIsKnown) {
  Alarm alarm{.account = "000000000000", .region = "us-east-1", .name = "a/b c"};
  EXPECT_EQ(make_notice(alarm, AlarmState::ok).link, "");
  EXPECT_EQ(make_notice(alarm, AlarmState::ok).json.find("Link"), std::string::npos);
  const std::string_view console = "https://redrive.example/console/";
  const Notice notice = make_notice(alarm, AlarmState::ok, console);
  EXPECT_EQ(notice.link, "https://redrive.example/console/alarms/a%2Fb%20c");
  EXPECT_NE(notice.json.find(R"("Link":"https://redrive.example/console/alarms/a%2Fb%20c")"),
            std::string::npos)
      << notice.json;
  EXPECT_NE(slack_json(notice).find("<https://redrive.example/console/alarms/a%2Fb%20c|Open"),
            std::string::npos);
  const DeadLetterReason reason{
      .queue = "q.fifo",
      .messages = 2,
      .findings = {},
      .groups = {{.id = "aa", .title = "Old", .status = "known", .count = 9, .fresh = false},
                 {.id = "bb", .title = "New", .status = "new", .count = 1, .fresh = true}},
      .apart = {},
      .sample = {},
      .commands = {}};
  EXPECT_EQ(make_notice(alarm, AlarmState::ok, reason, console).link,
            "https://redrive.example/console/queues/q.fifo/groups/bb");
}

TEST(Notice, SaysNothingThatSlackWouldActOn) {
  Notice notice;
  notice.title = "ALARM: <!channel>";
  notice.text = "a & b ``` <http://evil.example|here>";
  EXPECT_EQ(slack_json(notice),
            R"({"text":"*ALARM: &lt;!channel&gt;*\n```a &amp; b ''' )"
            R"(&lt;http://evil.example|here&gt;```"})");
}

}  // namespace
}  // namespace redrive::alarms
