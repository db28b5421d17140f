#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/alarms/dead_letters.h"
#include "tests/dead_letters/dead_letter_world.h"

// The notice of a dead-letter queue's alarm names groups that grow quickly.

namespace redrive::alarms {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Escalating : engine::DeadLetterWorld {
  std::vector<std::string> findings() {
    const DeadLetterReading reading{
        .identity = engine::identity_of("dead"), .messages = 5, .expires_in = std::nullopt};
    return find_reason(engine(), dead_letters(), reading, {}, 0, nullptr).findings;
  }
};

TEST_F(Escalating, IsSaidWhileItLasts) {
  make_dead(5);
  group();
  EXPECT_THAT(findings(),
              ElementsAre(HasSubstr("group is escalating, 5 in the last five minutes: Broken")));
  world.pass(std::chrono::minutes(10));
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Escalating, IsNotSaidOfAnIgnoredGroup) {
  make_dead(5);
  group();
  commit(queue::GroupMarked{.group = only_group().key,
                            .status = queue::GroupStatus::ignored,
                            .note = {},
                            .actor = queue::NameIndex::none});
  EXPECT_THAT(findings(), IsEmpty());
}

}  // namespace
}  // namespace redrive::alarms
