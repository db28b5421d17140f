#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "observe/alarms/history_data.h"
#include "observe/alarms/watcher.h"
#include "tests/core/engine/engine_world.h"

namespace redrive::alarms {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::string_view kAccount = "000000000000";
constexpr std::string_view kRegion = "us-east-1";
constexpr milliseconds kPatience{30'000};

std::string arn_of_queue(const std::string& name) {
  return engine::identity_of(name).arn();
}

const std::string kFunction = "arn:aws:lambda:us-east-1:000000000000:function:pager";
const std::string kTopic = "arn:aws:sns:us-east-1:000000000000:oncall";

// An engine, one alarm, and functions that fail while the test says so.
class DeliveriesTest : public testing::Test {
 protected:
  DeliveriesTest() { open(); }

  void open() {
    notifier_.emplace(Notifier::Parts{
        .engine = world_.engine(),
        .invoke = [this](const std::string&, const std::string& payload) -> Result<void> {
          const std::lock_guard lock(mutex_);
          payloads_.push_back(payload);
          if (failing_) return fail(ErrorCode::service_unavailable, "the pager is off");
          return {};
        },
        .sync_wanted = {},
        .log = {},
        .synced = synced_,
        .pauses = {seconds(1), seconds(5)}});
    watcher_.emplace(
        Watcher::Parts{.engine = world_.engine(),
                       .dead_letters = world_.dead_letters(),
                       .history = history_,
                       .notifier = *notifier_,
                       .sync_wanted = {},
                       .rules = {},
                       .notify = notify_,
                       .account = std::string(kAccount),
                       .region = std::string(kRegion),
                       .has_function = [](const std::string& arn) { return arn == kFunction; }});
  }

  // The process ends, and another one continues from the journal.
  void restart() {
    watcher_.reset();
    notifier_.reset();
    world_.restart();
    open();
    watcher_->resume();
    settle();
  }

  void make_alarm(std::vector<std::string> actions) {
    Alarm alarm{.account = std::string(kAccount),
                .region = std::string(kRegion),
                .name = key_.name,
                .space = "AWS/SQS",
                .metric = "NumberOfMessagesSent",
                .statistic = "Sum"};
    alarm.alarm_actions = alarm.ok_actions = std::move(actions);
    ASSERT_TRUE(watcher_->store().put(alarm).has_value());
  }

  void set(AlarmState state) {
    ASSERT_TRUE(watcher_
                    ->set_state(key_,
                                {.state = state,
                                 .reason = "because",
                                 .reason_data = {},
                                 .updated = {},
                                 .transitioned = {}})
                    .has_value());
    settle();
  }
  void settle() { ASSERT_TRUE(notifier_->wait_idle(kPatience)); }
  void pass(Duration time) {
    world_.clock.advance(time);
    notifier_->look();
    settle();
  }

  // The deliveries in the alarm's history, newest first.
  std::vector<Delivery> deliveries() {
    std::vector<Delivery> found;
    for (const HistoryItem& item : watcher_->store().history(key_)) {
      if (item.delivery) found.push_back(*item.delivery);
    }
    return found;
  }
  Delivery only() {
    const auto found = deliveries();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Delivery() : found.front();
  }
  std::size_t invocations() {
    const std::lock_guard lock(mutex_);
    return payloads_.size();
  }

  engine::WorldOf<VirtualClock> world_;
  metrics::History history_;
  const AlarmKey key_{std::string(kAccount), std::string(kRegion), "busy"};
  std::vector<std::string> notify_;
  std::mutex mutex_;
  std::vector<std::string> payloads_;
  std::atomic<bool> failing_ = false;
  std::function<engine::Sequence()> synced_;  // From the next open() on.
  std::optional<Notifier> notifier_;
  std::optional<Watcher> watcher_;
};

TEST_F(DeliveriesTest, WhatArrivedIsRecordedWithItsTargetAndStatus) {
  world_.create("alerts");
  make_alarm({arn_of_queue("alerts")});
  set(AlarmState::alarm);
  const Delivery delivery = only();
  EXPECT_EQ(delivery.state, DeliveryState::delivered);
  EXPECT_EQ(delivery.target, arn_of_queue("alerts"));
  EXPECT_EQ(delivery.attempts, 1u);
  EXPECT_THAT(delivery.status, HasSubstr("message "));
  EXPECT_EQ(world_.receive("alerts").size(), 1u);
  EXPECT_EQ(notifier_->totals().delivered, 1u);
  EXPECT_EQ(notifier_->latest(key_).size(), 1u);
}

// A crash must not undo a change of state that a target has been notified of.
TEST_F(DeliveriesTest, ANoticeWaitsUntilItsRecordIsDurable) {
  std::atomic<engine::Sequence> synced = 0;
  std::atomic<int> looks = 0;
  synced_ = [&] {
    ++looks;
    return synced.load();
  };
  watcher_.reset();
  notifier_.reset();
  open();
  make_alarm({kFunction});
  ASSERT_TRUE(watcher_->set_state(key_, {.state = AlarmState::alarm, .reason = "because"}));
  while (looks < 3) std::this_thread::yield();
  EXPECT_EQ(invocations(), 0u);
  synced = std::numeric_limits<engine::Sequence>::max();
  settle();
  EXPECT_EQ(invocations(), 1u);
  notifier_->stop();  // Before what its hook refers to is gone.
}

TEST_F(DeliveriesTest, FailuresAreRetriedByTheClockAndThenGivenUp) {
  failing_ = true;
  make_alarm({kFunction});
  set(AlarmState::alarm);
  EXPECT_EQ(only().state, DeliveryState::failing);
  EXPECT_EQ(only().error, "the pager is off");
  EXPECT_EQ(only().next, world_.engine().now() + seconds(1));
  EXPECT_EQ(notifier_->totals().failing, 1u);

  pass(milliseconds(999));
  EXPECT_EQ(invocations(), 1u);
  pass(milliseconds(1));
  EXPECT_EQ(only().attempts, 2u);
  EXPECT_EQ(only().next, world_.engine().now() + seconds(5));
  pass(seconds(5));
  EXPECT_EQ(only().state, DeliveryState::given_up);
  EXPECT_EQ(only().attempts, 3u);
  pass(seconds(1'000));
  EXPECT_EQ(invocations(), 3u);
  EXPECT_EQ(notifier_->totals().given_up, 1u);
  EXPECT_EQ(notifier_->totals().failed_attempts, 3u);
  EXPECT_EQ(notifier_->totals().failing, 0u);
}

TEST_F(DeliveriesTest, ARetryGoesOnlyToTheTargetThatFailed) {
  world_.create("alerts");
  failing_ = true;
  make_alarm({arn_of_queue("alerts"), kFunction});
  set(AlarmState::alarm);
  failing_ = false;
  pass(seconds(1));
  for (const Delivery& delivery : deliveries()) {
    EXPECT_EQ(delivery.state, DeliveryState::delivered) << delivery.target;
  }
  EXPECT_EQ(world_.receive("alerts").size(), 1u);
  EXPECT_EQ(invocations(), 2u);
}

TEST_F(DeliveriesTest, ATargetThatNoServiceHereServesIsGivenUpAtOnce) {
  make_alarm({kTopic});
  set(AlarmState::alarm);
  EXPECT_EQ(only().state, DeliveryState::given_up);
  EXPECT_EQ(only().attempts, 1u);
  EXPECT_THAT(only().error, HasSubstr("does not have this service"));
}

TEST_F(DeliveriesTest, ALaterStateSupersedesWhatHasNotArrived) {
  failing_ = true;
  make_alarm({kFunction});
  set(AlarmState::alarm);
  failing_ = false;
  world_.clock.advance(milliseconds(10));
  set(AlarmState::ok);
  const auto found = deliveries();
  ASSERT_EQ(found.size(), 2u);
  std::multiset<DeliveryState> states{found[0].state, found[1].state};
  EXPECT_EQ(states, (std::multiset{DeliveryState::delivered, DeliveryState::superseded}));
  pass(seconds(10));
  ASSERT_EQ(invocations(), 2u);
  EXPECT_THAT(payloads_.back(), HasSubstr(R"("NewStateValue":"OK")"));
  ASSERT_EQ(notifier_->latest(key_).size(), 1u);
  EXPECT_EQ(notifier_->latest(key_).front().state, DeliveryState::delivered);
}

TEST_F(DeliveriesTest, ARestartGoesOnWithWhatHasNotArrived) {
  failing_ = true;
  make_alarm({kFunction});
  set(AlarmState::alarm);
  pass(seconds(1));
  restart();
  EXPECT_EQ(only().attempts, 2u);  // Not due yet.
  EXPECT_EQ(notifier_->totals().failing, 1u);
  failing_ = false;
  pass(seconds(5));
  EXPECT_EQ(only().state, DeliveryState::delivered);
  EXPECT_EQ(only().attempts, 3u);
}

TEST_F(DeliveriesTest, ARestartRepeatsNothingThatArrived) {
  make_alarm({kFunction});
  set(AlarmState::alarm);
  restart();
  pass(seconds(1'000));
  EXPECT_EQ(invocations(), 1u);
  ASSERT_EQ(notifier_->latest(key_).size(), 1u);
  EXPECT_EQ(notifier_->latest(key_).front().state, DeliveryState::delivered);
}

// It is in the journal, and the process ended before the first attempt.
TEST_F(DeliveriesTest, ANoticeThatWasOnlyQueuedIsDeliveredAfterTheRestart) {
  make_alarm({kFunction});
  Alarm alarm = *watcher_->store().find(key_);
  AlarmEvent event;
  event.notice = make_notice(alarm, AlarmState::ok);
  event.targets = {Target::parse(kFunction, false)};
  ASSERT_TRUE(watcher_->store().record(key_, event).has_value());
  EXPECT_EQ(only().state, DeliveryState::queued);
  restart();
  EXPECT_EQ(only().state, DeliveryState::delivered);
  EXPECT_EQ(invocations(), 1u);
}

TEST_F(DeliveriesTest, ATargetThatIsNoLongerConfiguredIsGivenUpAfterTheRestart) {
  failing_ = true;
  notify_ = {kFunction};
  restart();
  EXPECT_EQ(watcher_->test(), 1u);
  settle();
  notify_.clear();
  restart();
  const auto history = watcher_->store().history({key_.account, key_.region, "test"});
  ASSERT_FALSE(history.empty());
  const auto item = std::ranges::find_if(
      history, [](const HistoryItem& each) { return each.delivery.has_value(); });
  ASSERT_NE(item, history.end());
  EXPECT_EQ(item->delivery->state, DeliveryState::given_up);
  EXPECT_THAT(item->delivery->error, HasSubstr("no longer configured"));
}

TEST_F(DeliveriesTest, SecretsOfTargetsAreNotInTheJournal) {
  notify_ = {"command:exit 1 # hunter2", "smtp://user:hunter3@127.0.0.1:1?from=a@b&to=c@d"};
  restart();
  watcher_->test();
  settle();
  world_.engine().turn([](engine::Turn& turn) {
    for (const auto& [key, value] : turn.state().entries()) {
      EXPECT_EQ(value.find("hunter3"), value.npos) << value;
    }
  });
}

TEST_F(DeliveriesTest, RemovingAnAlarmEndsItsDeliveries) {
  failing_ = true;
  make_alarm({kFunction});
  set(AlarmState::alarm);
  ASSERT_TRUE(watcher_->store().remove(key_));
  pass(seconds(10));
  EXPECT_EQ(invocations(), 1u);
  EXPECT_TRUE(deliveries().empty());
  EXPECT_TRUE(notifier_->latest(key_).empty());
  EXPECT_EQ(notifier_->totals().failing, 0u);
  world_.engine().turn([](engine::Turn& turn) { EXPECT_TRUE(turn.state().entries().empty()); });
}

TEST_F(DeliveriesTest, AHistoryThatGoesOnKeepsTheItemsOfOpenDeliveries) {
  failing_ = true;
  make_alarm({kFunction});
  set(AlarmState::alarm);
  for (std::size_t i = 0; i < 2 * kHistoryKept; ++i) {
    world_.clock.advance(milliseconds(1));
    ASSERT_TRUE(watcher_->store().put(*watcher_->store().find(key_)).has_value());
  }
  EXPECT_EQ(watcher_->store().history(key_).size(), kHistoryKept + 1);
  failing_ = false;
  pass(seconds(1));
  EXPECT_EQ(only().state, DeliveryState::delivered);
}

TEST_F(DeliveriesTest, TargetsThatCanNeverBeReachedAreNamed) {
  world_.create("alerts");
  world_.create("hidden!async");
  const auto refused = [&](const std::string& target) {
    return !watcher_->check_reachable({target}).has_value();
  };
  EXPECT_FALSE(refused(arn_of_queue("alerts")));
  EXPECT_FALSE(refused(kFunction));
  EXPECT_FALSE(refused("https://hooks.example.com/services/x"));
  EXPECT_FALSE(refused("https://93.184.216.34/"));
  for (const std::string& target : {arn_of_queue("gone"),
                                    arn_of_queue("hidden!async"),
                                    kFunction + "-2",
                                    kTopic,
                                    std::string("arn:aws:automate:us-east-1:ec2:stop"),
                                    std::string("http://127.0.0.1:8080/hook"),
                                    std::string("http://[::1]/hook"),
                                    std::string("http://localhost/hook"),
                                    std::string("https://10.0.0.7/hook"),
                                    std::string("http://169.254.169.254/latest"),
                                    std::string("http://")}) {
    EXPECT_TRUE(refused(target)) << target;
  }
  notify_ = {"http://127.0.0.1:8080/hook"};
  restart();
  EXPECT_FALSE(refused("http://127.0.0.1:8080/hook"));  // The operator's own.
}

TEST(AfterAttempt, CountsAttemptsAndPauses) {
  const std::vector<milliseconds> pauses = {seconds(1), seconds(5)};
  const AttemptTime time{.now = Timestamp(1'000), .wall = Timestamp(9'000)};
  const Attempt failed{.status = {}, .error = "no", .final = false};
  Delivery delivery = after_attempt({}, failed, pauses, time);
  EXPECT_EQ(delivery.state, DeliveryState::failing);
  EXPECT_EQ(delivery.next, Timestamp(2'000));
  delivery = after_attempt(delivery, failed, pauses, time);
  EXPECT_EQ(delivery.next, Timestamp(6'000));
  EXPECT_EQ(after_attempt(delivery, failed, pauses, time).state, DeliveryState::given_up);
  const Delivery done =
      after_attempt(delivery, {.status = "HTTP 200", .error = {}, .final = false}, pauses, time);
  EXPECT_EQ(done.state, DeliveryState::delivered);
  EXPECT_EQ(done.attempts, 3u);
  EXPECT_TRUE(done.error.empty());
  EXPECT_EQ(done.at, Timestamp(9'000));
  EXPECT_EQ(after_attempt({}, {.status = {}, .error = "no", .final = true}, pauses, time).state,
            DeliveryState::given_up);
}

TEST(HistoryData, OfActionsIsAsCloudWatchFormsIt) {
  Delivery delivery{.state = DeliveryState::delivered,
                    .target = "arn:q",
                    .target_id = "1",
                    .notice = "ALARM: a",
                    .attempts = 1,
                    .status = "message 1",
                    .error = {},
                    .at = Timestamp(9),
                    .next = {},
                    .state_changed = Timestamp(7)};
  EXPECT_EQ(action_summary(delivery), "Successfully executed action arn:q");
  EXPECT_EQ(action_data(delivery, Duration(0)),
            R"({"actionState":"Succeeded","stateUpdateTimestamp":7,"notificationResource":"arn:q",)"
            R"("status":"message 1","attempts":1})");
  delivery.state = DeliveryState::failing;
  delivery.status.clear();
  delivery.error = "refused";
  delivery.next = Timestamp(1'000);
  EXPECT_EQ(
      action_data(delivery, Duration(1'000)),
      R"({"actionState":"InProgress","stateUpdateTimestamp":7,"notificationResource":"arn:q",)"
      R"("error":"refused","attempts":1,"nextAttempt":"1970-01-01T00:00:02.000Z"})");
  delivery.state = DeliveryState::given_up;
  EXPECT_EQ(action_summary(delivery),
            "Failed to execute action arn:q. Received error: \"refused\"");
}

TEST(HistoryData, OfStatesHasBothStates) {
  Condition before;
  before.reason = "was \"fine\"";
  before.reason_data = "not json";
  Condition after;
  after.state = AlarmState::alarm;
  after.reason = "bad";
  after.reason_data = R"({"version":"1.0"})";
  EXPECT_EQ(state_change_data(before, after),
            R"({"version":"1.0","oldState":{"stateValue":"INSUFFICIENT_DATA","stateReason":)"
            R"("was \"fine\""},"newState":{"stateValue":"ALARM","stateReason":"bad",)"
            R"("stateReasonData":{"version":"1.0"}}})");
}

// Earlier versions wrote this when a notice was queued.
TEST(History, OldItemsDoNotClaimThatANoticeArrived) {
  const auto item = decode_item(R"({"wall":1,"kind":2,"summary":"Told arn:x","data":""})");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->summary, "Queued for arn:x; its delivery was not recorded");
}

}  // namespace
}  // namespace redrive::alarms
