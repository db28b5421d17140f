#include <gmock/gmock.h>

#include "manage/service.h"
#include "tests/dead_letters/dead_letter_world.h"
#include "tests/front/fake_exchange.h"

// What the management API does with dead letters: requests as values, an engine in memory.

namespace redrive::manage {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class DeadLetterRequests : public engine::DeadLetterWorld {
 protected:
  front::FakeReply ask(std::string_view method, std::string_view target,
                       std::string_view body = {}) {
    const Service service({.engine = engine(), .dead_letters = dead_letters(), .gate = gate_});
    const std::string padded = std::string(body) + std::string(http::kBodyPadding, '\0');
    const std::string whole = "/_redrive/v1/" + std::string(target);
    const std::string_view path = std::string_view(whole).substr(0, whole.find('?'));
    http::Request request;
    request.method = method;
    request.target = whole;
    request.path = path;
    if (path.size() < whole.size()) {
      request.query = std::string_view(whole).substr(path.size() + 1);
    }
    request.body = std::string_view(padded).substr(0, body.size());
    front::FakeExchange exchange(request);
    service.handle(exchange);
    return front::reply_of(exchange.out());
  }
  // The text of the first member with that name.
  static std::string member(const front::FakeReply& reply, std::string_view name) {
    const std::string tag = "\"" + std::string(name) + "\":\"";
    const std::size_t at = reply.body.find(tag);
    if (at == std::string::npos) return "(none)";
    const std::size_t begin = at + tag.size();
    return reply.body.substr(begin, reply.body.find('"', begin) - begin);
  }

 private:
  front::Gate gate_{{}, world.clock};
};

TEST_F(DeadLetterRequests, ListsMessagesWithTheirAttempts) {
  make_dead(2);
  const auto reply = ask("GET", "queues/dead/messages");
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr(R"("body":"m0")"));
  EXPECT_THAT(reply.body, HasSubstr(R"("errorType":"Broken")"));
}

TEST_F(DeadLetterRequests, APageContinuesWhereTheLastOneEnded) {
  make_dead(3);
  const auto first = ask("GET", "queues/dead/messages?limit=2");
  EXPECT_THAT(first.body, HasSubstr(R"("body":"m1")"));
  EXPECT_FALSE(first.has(R"("body":"m2")"));
  const auto second = ask("GET", "queues/dead/messages?limit=2&after=" + member(first, "next"));
  EXPECT_THAT(second.body, HasSubstr(R"("body":"m2")"));
  EXPECT_FALSE(second.has(R"("body":"m1")"));
  EXPECT_EQ(member(second, "next"), "(none)");
}

TEST_F(DeadLetterRequests, AFilterThatCannotBeReadIsRefused) {
  const auto reply = ask("GET", "queues/dead/messages?filter=body%20%3D%3D%3D");
  EXPECT_EQ(reply.status, 400);
}

TEST_F(DeadLetterRequests, AJobMovesDeadLettersBackAndCountsOutcomes) {
  make_dead(2);
  const auto started = ask("POST", "queues/dead/jobs", R"({"reason":"fixed"})");
  ASSERT_EQ(started.status, 200) << started.body;
  world.pass(seconds(1));
  EXPECT_EQ(size("dead"), 0u);
  succeed_all("orders");
  const auto job = ask("GET", "jobs/" + member(started, "id"));
  EXPECT_THAT(job.body, HasSubstr(R"("status":"completed")"));
  EXPECT_THAT(job.body, HasSubstr(R"("succeeded":2)"));
}

TEST_F(DeadLetterRequests, ADryRunMovesNothing) {
  make_dead(3);
  const auto reply = ask("POST", "queues/dead/jobs", R"({"dryRun":true})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr(R"("candidates":3)"));
  world.pass(seconds(1));
  EXPECT_EQ(size("dead"), 3u);
}

TEST_F(DeadLetterRequests, OnlyOneJobRunsOnAQueue) {
  make_dead(2);
  EXPECT_EQ(ask("POST", "queues/dead/jobs", R"({"rate":1})").status, 200);
  const auto second = ask("POST", "queues/dead/jobs", "{}");
  EXPECT_EQ(second.status, 400);
  EXPECT_THAT(second.body, HasSubstr("unfinished job"));
}

TEST_F(DeadLetterRequests, AQueueWithoutDeadLettersNeedsADestination) {
  world.create("plain");
  const auto reply = ask("POST", "queues/plain/jobs", "{}");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("is not a dead-letter queue"));
}

TEST_F(DeadLetterRequests, AJobIsPausedResumedAndCancelled) {
  make_dead(5);
  const std::string id = member(ask("POST", "queues/dead/jobs", R"({"rate":1})"), "id");
  EXPECT_THAT(ask("POST", "jobs/" + id + "/pause").body, HasSubstr(R"("status":"paused")"));
  const std::size_t left = size("dead");
  world.pass(seconds(10));
  EXPECT_EQ(size("dead"), left);
  EXPECT_THAT(ask("POST", "jobs/" + id + "/resume").body, HasSubstr(R"("status":"running")"));
  EXPECT_THAT(ask("POST", "jobs/" + id + "/cancel").body, HasSubstr(R"("status":"cancelled")"));
  EXPECT_EQ(ask("POST", "jobs/" + id + "/resume").status, 400) << "it has ended";
}

TEST_F(DeadLetterRequests, GroupsHaveTheirErrorAndTheirCount) {
  make_dead(3, "a", {.type = "Timeout"});
  make_dead(1, "b", {.type = "BadInput"});
  const auto reply = ask("GET", "queues/dead/groups");
  ASSERT_EQ(reply.status, 200);
  EXPECT_LT(reply.body.find("Timeout"), reply.body.find("BadInput")) << "the largest comes first";
  EXPECT_THAT(reply.body, HasSubstr(R"("count":3)"));
}

TEST_F(DeadLetterRequests, AGroupIsMarkedByThePrefixOfItsId) {
  make_dead(1);
  const std::string id = member(ask("GET", "queues/dead/groups"), "id");
  const auto marked = ask("POST",
                          "queues/dead/groups/" + id.substr(0, 8),
                          R"({"status":"resolved","note":"shipped","owner":"ada"})");
  EXPECT_EQ(marked.status, 200) << marked.body;
  EXPECT_EQ(member(marked, "status"), "resolved");
  EXPECT_EQ(member(marked, "note"), "shipped");
  EXPECT_EQ(ask("POST", "queues/dead/groups/" + id, "{}").status, 400) << "nothing to change";
}

TEST_F(DeadLetterRequests, DiscardedMessagesAreInTheBinUntilTheyAreRestored) {
  make_dead(1);
  const std::string chosen = fmt::format(R"({{"keys":[{}]}})", number(keys("dead").front()));
  EXPECT_THAT(ask("POST", "queues/dead/discard", chosen).body, HasSubstr(R"("messages":1)"));
  EXPECT_EQ(size("dead"), 0u);
  EXPECT_THAT(ask("GET", "queues/dead/bin").body, HasSubstr(R"("body":"m0")"));
  EXPECT_THAT(ask("POST", "queues/dead/restore", chosen).body, HasSubstr(R"("messages":1)"));
  EXPECT_EQ(size("dead"), 1u);
}

TEST_F(DeadLetterRequests, APolicyIsSetShownAndRemoved) {
  EXPECT_EQ(member(ask("GET", "queues/dead/policy"), "source"), "none");
  const auto set =
      ask("PUT", "queues/dead/policy", R"({"maxRedrives":2,"redriveAfterSeconds":60})");
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_THAT(set.body, HasSubstr(R"("maxRedrives":2)"));
  EXPECT_EQ(member(ask("GET", "queues/dead/policy"), "source"), "queue");
  EXPECT_EQ(member(ask("DELETE", "queues/dead/policy"), "source"), "none");
  EXPECT_EQ(ask("PUT", "queues/dead/policy", R"({"then":"burn"})").status, 400);
}

TEST_F(DeadLetterRequests, AnEditedMessageKeepsItsOriginalInTheBin) {
  make_dead(1);
  const std::string path =
      fmt::format("queues/dead/messages/{}/edit", number(keys("dead").front()));
  const auto edited = ask("POST", path, R"({"body":"better","reason":"typo"})");
  ASSERT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(member(edited, "body"), "better");
  EXPECT_THAT(ask("GET", "queues/dead/bin").body, HasSubstr(R"("body":"m0")"));
}

TEST_F(DeadLetterRequests, MissingThingsAreNotFound) {
  for (const char* path : {"queues/none/messages",
                           "queues/none/groups",
                           "queues/dead/messages/12345",
                           "jobs/00000000-0000-0000-0000-000000000000"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
  }
}

}  // namespace
}  // namespace redrive::manage
