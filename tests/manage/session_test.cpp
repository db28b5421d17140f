#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "core/journal/journal.h"
#include "dead_letters/dead_letters.h"
#include "manage/service.h"
#include "net/auth/sigv4.h"
#include "tests/net/http/raw_client.h"

// Sign-in of the web console over a real connection, on a server with keys.

namespace redrive::manage {
namespace {

using http::body_of;
using http::status_of;
using testing::HasSubstr;
using testing::Not;

constexpr Timestamp kSignInStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    dead_letters_.emplace(*engine_);
    service_.emplace(Parts{.engine = *engine_,
                           .dead_letters = *dead_letters_,
                           .gate = gate_,
                           .version = "1.2.3",
                           .observers = {.audit = [this](std::string line) { audit_ += line; }}});
    use_keys();
    auto started = http::Server::start(
        {}, {.handle = [this](http::Exchange& e) { service_->handle(e); }, .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
    client_ = std::make_unique<http::RawClient>(server_->port());
  }
  ~SessionTest() override {
    client_.reset();
    server_->drain(std::chrono::seconds(5));
  }

  void use_keys() {
    gate_.use(*auth::KeyRing::make({{.id = "READER",
                                     .secret = "s",
                                     .account = "000000000000",
                                     .name = "ana",
                                     .role = auth::Role::reader,
                                     .queues = {"orders-*"}}}));
  }

  std::string send(std::string_view method, std::string_view path, std::string_view headers,
                   std::string_view body = {}) {
    EXPECT_TRUE(
        client_->send(fmt::format("{} /_redrive/v1/{} HTTP/1.1\r\nHost: test:1\r\n{}"
                                  "Content-Length: {}\r\n\r\n{}",
                                  method,
                                  path,
                                  headers,
                                  body.size(),
                                  body)));
    return client_->read_response();
  }
  std::string signature(const std::string& method, const std::string& path, std::string secret) {
    const std::vector<auth::HeaderField> host = {{"Host", "test:1"}};
    const std::string full = "/_redrive/v1/" + path;
    std::string out;
    for (const auto& [name, value] :
         auth::sign({.method = method, .path = full, .query = "", .headers = host, .body = ""},
                    {.access_key = "READER", .secret_key = std::move(secret)},
                    {.region = "us-east-1", .service = "sqs"},
                    clock_.wall())) {
      out += fmt::format("{}: {}\r\n", name, value);
    }
    return out;
  }
  std::string sign_in(const std::string& secret = "s") {
    return send("POST", "session", signature("POST", "session", secret));
  }
  // The headers with which a page of the console sends the cookie of an answer.
  static std::string session_of(const std::string& answer) {
    const std::size_t at = answer.find("redrive-session=");
    EXPECT_NE(at, answer.npos) << answer;
    return fmt::format("Cookie: {}\r\nx-redrive-console: 1\r\n",
                       answer.substr(at, answer.find(';', at) - at));
  }

  VirtualClock clock_{kSignInStart};
  front::Gate gate_{{}, clock_};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  std::optional<dead_letters::DeadLetters> dead_letters_;
  std::string audit_;
  std::optional<Service> service_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::RawClient> client_;
};

TEST_F(SessionTest, SignsInAndSaysWhatTheKeyMayDo) {
  const std::string answer = sign_in();
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(answer, HasSubstr("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200\r\n"));
  const std::string view =
      R"({"signedIn":true,"keys":true,"name":"ana","role":"reader","rights":["find","look"],)"
      R"("queues":["orders-*"],"account":"000000000000","region":"us-east-1",)"
      R"("expiresAt":"2026-01-01T12:00:00.000Z","version":"1.2.3","virtualClock":false,)"
      R"("memory":false,"secure":false})";
  EXPECT_EQ(body_of(answer), view);
  EXPECT_EQ(body_of(send("GET", "session", session_of(answer))), view);
  EXPECT_THAT(audit_, HasSubstr("ana"));
}

TEST_F(SessionTest, CookieHasTheRightsOfItsKeyAndNoMore) {
  const std::string session = session_of(sign_in());
  EXPECT_EQ(status_of(send("GET", "overview", session)), 200);
  EXPECT_EQ(status_of(send("POST", "reset", session)), 403);
  EXPECT_EQ(status_of(send("GET", "overview", "")), 403);
}

TEST_F(SessionTest, WithoutCredentialsTheAnswerSaysSo) {
  const std::string answer = send("GET", "session", "");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_EQ(body_of(answer),
            R"({"signedIn":false,"keys":true,"version":"1.2.3","virtualClock":false,)"
            R"("memory":false,"secure":false})");
  EXPECT_EQ(status_of(send("POST", "session", "")), 403);
}

TEST_F(SessionTest, SignOutEndsTheSession) {
  const std::string session = session_of(sign_in());
  const std::string answer = send("DELETE", "session", session);
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(answer, HasSubstr("redrive-session=; "));
  EXPECT_THAT(answer, HasSubstr("Max-Age=0"));
  EXPECT_THAT(body_of(send("GET", "session", session)), HasSubstr(R"("signedIn":false)"));
  EXPECT_EQ(status_of(send("GET", "overview", session)), 403);
}

TEST_F(SessionTest, LinkSignsInOnce) {
  const std::string made = send("POST", "session/link", signature("POST", "session/link", "s"));
  ASSERT_EQ(status_of(made), 200) << made;
  const std::string body = std::string(body_of(made));
  const std::size_t at = body.find("\"token\":\"") + 9;
  const std::string link = body.substr(at, 43);
  const std::string request = fmt::format(R"({{"token":"{}"}})", link);
  const std::string answer = send("POST", "session", "", request);
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(body_of(answer), HasSubstr(R"("name":"ana")"));
  EXPECT_EQ(status_of(send("GET", "overview", session_of(answer))), 200);
  EXPECT_EQ(status_of(send("POST", "session", "", request)), 403);
  EXPECT_THAT(audit_, Not(HasSubstr(link)));
}

TEST_F(SessionTest, FailedSignInsAreLimited) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status_of(sign_in("wrong")), 403);
  const std::string blocked = sign_in();
  EXPECT_EQ(status_of(blocked), 429);
  EXPECT_THAT(blocked, HasSubstr("Retry-After: 60\r\n"));
  EXPECT_THAT(body_of(blocked), HasSubstr("TooManySignIns"));
  EXPECT_EQ(status_of(send("GET", "session", "")), 200);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(status_of(sign_in()), 200);
}

TEST_F(SessionTest, SessionEndsWithItsKey) {
  const std::string session = session_of(sign_in());
  gate_.use(*auth::KeyRing::make({{.id = "OTHER", .secret = "s", .name = "bob"}}));
  EXPECT_EQ(status_of(send("GET", "overview", session)), 403);
}

}  // namespace
}  // namespace redrive::manage
