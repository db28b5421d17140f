#include <gtest/gtest.h>

#include <functional>

#include "tests/dead_letters/dead_letter_world.h"

// What dead-letter queues do by themselves.

namespace redrive::engine {
namespace {

using queue::DeadLetterPolicy;
using std::chrono::minutes;

struct Policies : DeadLetterWorld {
  Bodies archived;
  std::function<void(const ArchiveItem&)> while_archiving;

  Policies() {
    world.archive = [this](const ArchiveItem& item) -> Result<std::string> {
      archived.emplace_back(store::decode_message(item.stored)->contents.body);
      if (while_archiving) while_archiving(item);
      return "s3://archive/" + std::to_string(archived.size());
    };
  }
  void set(DeadLetterPolicy policy, seconds retention = std::chrono::days(4)) {
    QueueSettings settings;
    settings.retention = retention;
    settings.dead_letters = std::move(policy);
    world.change("dead", settings);
  }
  static DeadLetterPolicy redriving(seconds after, std::uint32_t max = 3) {
    return {.redrives_max = max, .redrive_after = after};
  }
  static DeadLetterPolicy archiving() {
    return {.archive_expiring = true, .archive = "archive/dead"};
  }
  void maintain() {
    for (int i = 0; i < 100; ++i) {
      const auto more = engine().maintain();
      ASSERT_TRUE(more.has_value());
      if (!*more) return;
    }
    FAIL() << "maintenance does not end";
  }
  void pass(Duration time) {
    world.pass(time);
    engine().tick();
    maintain();
  }
  Result<void> edit(const Peeked& peeked, std::string_view body) {
    std::string old(peeked.body.size, '\0');
    EXPECT_TRUE(engine().read_body(peeked.body, old.data()).has_value());
    const store::StoredMessage message = store::decode_message(old).value();
    store::MessageContents contents = message.contents;
    contents.body = body;
    const std::string stored = store::encode_message(message, contents);
    return dead_letters().bin.edit(
        identity_of("dead"),
        {.key = peeked.mark.key, .of = peeked.body, .stored = stored, .destination = {}},
        {.name = "ada", .reason = "typo"});
  }
};

TEST_F(Policies, RedriveAfterADelayThatGrows) {
  set(redriving(seconds(60)));
  make_dead(1);
  pass(seconds(59));
  EXPECT_EQ(size("dead"), 1u);
  pass(seconds(1));
  EXPECT_EQ(size("dead"), 0u);
  EXPECT_EQ(size("orders"), 1u);
  fail_all("orders");
  pass(seconds(119));
  EXPECT_EQ(size("dead"), 1u);
  pass(seconds(1));
  EXPECT_EQ(size("orders"), 1u);
}

TEST_F(Policies, HoldAfterARestart) {
  set(redriving(seconds(60)));
  make_dead(2);
  pass(seconds(30));
  world.restart();
  pass(seconds(29));
  EXPECT_EQ(size("dead"), 2u);
  pass(seconds(1));
  EXPECT_EQ(size("orders"), 2u);
}

TEST_F(Policies, HoldForLettersThatAreThereAlready) {
  make_dead(2);
  pass(seconds(100));
  set(redriving(seconds(150)));
  pass(seconds(49));
  EXPECT_EQ(size("dead"), 2u);
  pass(seconds(1));
  EXPECT_EQ(size("orders"), 2u);
}

TEST_F(Policies, OfTheConfigurationHoldForQueuesWithoutOneOfTheirOwn) {
  world.policies = {{.queues = {"de*"}, .policy = redriving(seconds(60))}};
  world.restart();
  make_dead(1);
  pass(seconds(60));
  EXPECT_EQ(size("orders"), 1u);
}

// The delay counts from the moment at which the letter is back.
TEST_F(Policies, HoldForWhatWasRestoredFromTheBin) {
  set(redriving(seconds(60)));
  make_dead(1);
  const auto all = keys("dead");
  ASSERT_EQ(dead_letters().bin.discard(identity_of("dead"), all, {}).value(), 1u);
  pass(seconds(300));
  ASSERT_EQ(dead_letters().bin.restore(identity_of("dead"), all, {}).value(), 1u);
  pass(seconds(59));
  EXPECT_EQ(size("dead"), 1u);
  pass(seconds(1));
  EXPECT_EQ(size("orders"), 1u);
}

TEST_F(Policies, ArchiveWhatIsAboutToExpire) {
  set(archiving(), minutes(60));
  make_dead(1);
  pass(minutes(50) - Duration(1));
  EXPECT_EQ(archived, Bodies{});
  pass(Duration(1));
  EXPECT_EQ(archived, Bodies{"m0"});
  EXPECT_EQ(size("dead"), 0u);
}

// A redrive that is due only after the end of retention must not hide that the end is near.
TEST_F(Policies, ArchiveWhatIsAboutToExpireAlsoWhereLettersAreRedriven) {
  DeadLetterPolicy policy = archiving();
  policy.redrive_after = std::chrono::hours(2);
  policy.redrives_max = 3;
  set(policy, minutes(60));
  make_dead(1);
  pass(minutes(50));
  EXPECT_EQ(archived, Bodies{"m0"});
  EXPECT_EQ(size("dead"), 0u);
}

TEST_F(Policies, ArchiveDiscardOrParkWhatIsSpent) {
  for (const auto then : {DeadLetterPolicy::Then::archive,
                          DeadLetterPolicy::Then::discard,
                          DeadLetterPolicy::Then::park}) {
    SCOPED_TRACE(static_cast<int>(then));
    archived.clear();
    DeadLetterPolicy policy = redriving(seconds(60), 1);
    policy.then = then;
    policy.archive = "archive/dead";
    set(policy);
    make_dead(1);
    pass(seconds(60));
    ASSERT_EQ(size("orders"), 1u);
    fail_all("orders");
    pass(seconds(1));
    EXPECT_EQ(archived.size(), then == DeadLetterPolicy::Then::archive ? 1u : 0u);
    EXPECT_EQ(size("dead"), then == DeadLetterPolicy::Then::park ? 1u : 0u);
    EXPECT_EQ(dead_letters().peek.bin_page(identity_of("dead"), {}, 10)->messages.size(),
              then == DeadLetterPolicy::Then::archive ? 0u : 1u);
  }
}

// The archive has the old body: the letter stays, and is archived again as it is now.
TEST_F(Policies, DoNotLetGoOfWhatWasEditedWhileItWasArchived) {
  set(archiving(), minutes(60));
  make_dead(1);
  while_archiving = [this](const ArchiveItem&) {
    while_archiving = {};
    EXPECT_TRUE(edit(peek("dead").at(0), "corrected").has_value());
  };
  pass(minutes(50));
  EXPECT_EQ(archived, Bodies{"m0"});
  ASSERT_EQ(size("dead"), 1u);
  pass(seconds(30));
  EXPECT_EQ(archived, (Bodies{"m0", "corrected"}));
  EXPECT_EQ(size("dead"), 0u);
}

TEST_F(Policies, DoNotLetGoOfWhatAConsumerTookWhileItWasArchived) {
  set(archiving(), minutes(60));
  make_dead(1);
  while_archiving = [this](const ArchiveItem&) {
    while_archiving = {};
    EXPECT_EQ(world.receive("dead", 1, seconds(10)).size(), 1u);
  };
  pass(minutes(50));
  EXPECT_EQ(size("dead"), 1u);
  pass(seconds(30));
  EXPECT_EQ(size("dead"), 0u);
}

TEST_F(Policies, KeepWhatTheArchiveDidNotTake) {
  set(archiving(), minutes(60));
  make_dead(1);
  const auto take = std::exchange(world.archive, [](const ArchiveItem&) -> Result<std::string> {
    return fail(ErrorCode::network, "away");
  });
  pass(minutes(50));
  EXPECT_EQ(size("dead"), 1u);
  world.archive = take;
  pass(seconds(30));
  EXPECT_EQ(archived, Bodies{"m0"});
  EXPECT_EQ(size("dead"), 0u);
}

}  // namespace
}  // namespace redrive::engine
