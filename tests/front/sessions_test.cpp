#include "front/sessions.h"

#include <gtest/gtest.h>

namespace redrive::front {
namespace {

constexpr Timestamp kSignedInAt(1'000'000);

auth::AccessKey session_key(const std::string& id, const std::string& secret = "secret") {
  return {.id = id, .secret = secret, .account = "000000000000", .name = id};
}

class SessionsTest : public testing::Test {
 protected:
  std::optional<std::string> key_of(std::string_view token, Timestamp now = kSignedInAt) const {
    const auto found = sessions_.find(token, keys_, now);
    return found ? std::optional(found->key_id) : std::nullopt;
  }

  auth::KeyRing keys_ = *auth::KeyRing::make({session_key("A"), session_key("B")});
  Sessions sessions_;
};

TEST_F(SessionsTest, TokenStandsForItsKey) {
  const std::string a = sessions_.open(session_key("A"), kSignedInAt);
  const std::string b = sessions_.open(session_key("B"), kSignedInAt);
  EXPECT_EQ(a.size(), 43u);
  EXPECT_NE(a, b);
  EXPECT_EQ(key_of(a), "A");
  EXPECT_EQ(key_of(b), "B");
  EXPECT_EQ(key_of(""), std::nullopt);
  EXPECT_EQ(key_of(a.substr(1)), std::nullopt);
}

TEST_F(SessionsTest, EndsAfterItsTime) {
  const std::string token = sessions_.open(session_key("A"), kSignedInAt);
  const Timestamp end = kSignedInAt + Sessions::kSessionTime;
  EXPECT_EQ(sessions_.find(token, keys_, end - Duration(1))->left, Duration(1));
  EXPECT_EQ(key_of(token, end), std::nullopt);
}

TEST_F(SessionsTest, EndsWithSignOut) {
  const std::string token = sessions_.open(session_key("A"), kSignedInAt);
  const std::string other = sessions_.open(session_key("A"), kSignedInAt);
  sessions_.close(token);
  EXPECT_EQ(key_of(token), std::nullopt);
  EXPECT_EQ(key_of(other), "A");
}

TEST_F(SessionsTest, EndsWithItsKeyOrItsSecret) {
  const std::string token = sessions_.open(session_key("A"), kSignedInAt);
  keys_ = *auth::KeyRing::make({session_key("B")});
  EXPECT_EQ(key_of(token), std::nullopt);
  keys_ = *auth::KeyRing::make({session_key("A", "another secret")});
  EXPECT_EQ(key_of(token), std::nullopt);
  keys_ = *auth::KeyRing::make({session_key("A")});
  EXPECT_EQ(key_of(token), "A");
}

TEST_F(SessionsTest, EvictsTheOldestWhenThereAreTooMany) {
  const std::string first = sessions_.open(session_key("A"), kSignedInAt);
  const std::string second = sessions_.open(session_key("A"), kSignedInAt + Duration(1));
  for (std::size_t i = 2; i <= Sessions::kTokensMax; ++i) {
    (void)sessions_.open(session_key("B"), kSignedInAt + Duration(2));
  }
  EXPECT_EQ(key_of(first), std::nullopt);
  EXPECT_EQ(key_of(second), "A");
}

TEST_F(SessionsTest, LinkIsUsedOnceAndInTime) {
  const std::string link = sessions_.make_link(session_key("A"), kSignedInAt);
  EXPECT_EQ(key_of(link), std::nullopt) << "a link is no session";
  EXPECT_EQ(sessions_.take_link(link, keys_, kSignedInAt), "A");
  EXPECT_EQ(sessions_.take_link(link, keys_, kSignedInAt), std::nullopt);
  const std::string late = sessions_.make_link(session_key("A"), kSignedInAt);
  EXPECT_EQ(sessions_.take_link(late, keys_, kSignedInAt + Sessions::kLinkTime), std::nullopt);
  const std::string session = sessions_.open(session_key("A"), kSignedInAt);
  EXPECT_EQ(sessions_.take_link(session, keys_, kSignedInAt), std::nullopt)
      << "a session is no link";
}

TEST(SignInLimitTest, BlocksAnAddressForTheRestOfTheMinute) {
  SignInLimit limit;
  for (int i = 0; i < SignInLimit::kTriesMax; ++i) {
    EXPECT_FALSE(limit.is_blocked("10.0.0.1", kSignedInAt));
    limit.failed("10.0.0.1", kSignedInAt);
  }
  EXPECT_TRUE(limit.is_blocked("10.0.0.1", kSignedInAt));
  EXPECT_FALSE(limit.is_blocked("10.0.0.2", kSignedInAt));
  const Timestamp later = kSignedInAt + SignInLimit::kWindow;
  EXPECT_TRUE(limit.is_blocked("10.0.0.1", later - Duration(1)));
  EXPECT_FALSE(limit.is_blocked("10.0.0.1", later));
  limit.failed("10.0.0.1", later);
  EXPECT_FALSE(limit.is_blocked("10.0.0.1", later)) << "a new window counts from one";
}

TEST(CookieValueTest, FindsTheNamedCookie) {
  const struct {
    std::string_view header;
    std::string_view value;
  } cases[] = {
      {"", ""},
      {"s=1", "1"},
      {"a=2; s=1; b=3", "1"},
      {"a=2;s=1", "1"},
      {"ss=2; s=1", "1"},
      {"s", ""},
      {"s=", ""},
      {"s=a=b", "a=b"},
      {";;; s=1;", "1"},
      {"xs=1", ""},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.header);
    EXPECT_EQ(cookie_value(one.header, "s"), one.value);
  }
}

}  // namespace
}  // namespace redrive::front
