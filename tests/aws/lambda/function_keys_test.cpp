#include "aws/lambda/function_keys.h"

#include <gtest/gtest.h>

#include <set>

#include "base/ids.h"
#include "core/journal/journal.h"
#include "core/store/store.h"
#include "functions/definitions/codec.h"
#include "net/auth/sigv4.h"

namespace redrive::lambda {
namespace {

constexpr Timestamp kNow{1'767'225'600'000};
const functions::FunctionId kFunction{"000000000000", "us-east-1", "f"};
const std::string kSource = "arn:aws:sqs:us-east-1:000000000000:source";

class FunctionKeysTest : public testing::Test {
 protected:
  FunctionKeysTest() {
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    gate_.use(*auth::KeyRing::make({{.id = "ADMIN", .secret = "s", .account = "000000000000"}}));
    keys_ = std::make_unique<FunctionKeys>(
        FunctionKeys::Parts{.engine = *engine_,
                            .gate = gate_,
                            .role_permissions = [this](std::string_view, std::string_view role)
                                -> std::optional<std::vector<auth::Statement>> {
                              if (role != "arn:aws:iam::000000000000:role/r") return std::nullopt;
                              return role_;
                            }});
    put_function();
  }

  void put(queue::EntryKind kind, const std::string& name, const std::string& text) {
    engine_->turn([&](engine::Turn& turn) { turn.commit(queue::EntryPut{kind, name, text}); });
  }
  void remove(queue::EntryKind kind, const std::string& name) {
    engine_->turn([&](engine::Turn& turn) { turn.commit(queue::EntryRemoved{kind, name}); });
  }
  void put_function() {
    functions::Function function;
    function.id = kFunction;
    function.runtime = "python3.11";
    function.role = "arn:aws:iam::000000000000:role/r";
    put(queue::EntryKind::function, kFunction.arn(), functions::encode(function));
  }
  void put_mapping(const std::string& qualifier) {
    functions::Mapping mapping;
    mapping.id = "m";
    mapping.account = "000000000000";
    mapping.queue_arn = kSource;
    mapping.function_arn = kFunction.arn() + qualifier;
    put(queue::EntryKind::mapping, mapping.id, functions::encode(mapping));
  }

  // Who a request that is signed with this key comes from.
  Result<front::Caller> admit(const FunctionKeys::Key& key) {
    const std::vector<auth::HeaderField> host = {{"Host", "localhost"}};
    const auto added = auth::sign({.method = "POST", .path = "/", .query = {}, .headers = host},
                                  {.access_key = key.id, .secret_key = key.secret},
                                  {.region = "us-east-1", .service = "sqs"},
                                  kNow);
    http::Request request;
    request.method = "POST";
    request.path = "/";
    request.headers = {{"Host", "localhost"}};
    for (const auto& [name, value] : added) request.headers.push_back({name, value});
    return gate_.admit(request, front::Gate::Api::sqs);
  }
  bool may(const FunctionKeys::Key& key, std::string_view action) {
    const auto caller = admit(key);
    if (!caller) return false;
    EXPECT_EQ(caller->key->role, auth::Role::scoped);
    return caller->key->statements_on(action, kSource) == auth::StatementVerdict::allow;
  }

  ManualClock clock_{kNow};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  front::Gate gate_{{}, clock_};
  std::vector<auth::Statement> role_;
  std::unique_ptr<FunctionKeys> keys_;
};

TEST_F(FunctionKeysTest, FollowMappingsOfEveryVersion) {
  const auto key = keys_->key_for(kFunction);
  EXPECT_TRUE(admit(key));
  EXPECT_FALSE(may(key, "sqs:ReceiveMessage"));
  for (const char* qualifier : {"", ":live"}) {
    put_mapping(qualifier);
    keys_->refresh();
    EXPECT_TRUE(may(key, "sqs:ReceiveMessage")) << qualifier;
    EXPECT_FALSE(may(key, "sqs:SendMessage"));
    remove(queue::EntryKind::mapping, "m");
    keys_->refresh();
    EXPECT_FALSE(may(key, "sqs:ReceiveMessage")) << qualifier;
  }
  EXPECT_EQ(keys_->key_for(kFunction).id, key.id);
}

TEST_F(FunctionKeysTest, FollowTheRole) {
  const auto key = keys_->key_for(kFunction);
  EXPECT_FALSE(may(key, "sqs:SendMessage"));
  role_ = {{.actions = {"sqs:SendMessage"}, .resources = {"*"}}};
  keys_->refresh();
  EXPECT_TRUE(may(key, "sqs:SendMessage"));
}

TEST_F(FunctionKeysTest, EndWithTheirFunction) {
  const auto key = keys_->key_for(kFunction);
  EXPECT_TRUE(admit(key));
  remove(queue::EntryKind::function, kFunction.arn());
  keys_->refresh();
  EXPECT_EQ(admit(key).error().code, ErrorCode::invalid_client_token_id);
  EXPECT_FALSE(admit(keys_->key_for(kFunction))) << "a function that is gone gets no key";
  put_function();
  const auto fresh = keys_->key_for(kFunction);
  EXPECT_NE(fresh.id, key.id);
  EXPECT_TRUE(admit(fresh));
  EXPECT_FALSE(admit(key));
}

// Catalogues are read in pieces.
TEST_F(FunctionKeysTest, ManyFunctionsEachHaveTheirOwn) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    functions::Function function;
    function.id = kFunction;
    function.id.name = "f" + std::to_string(i);
    put(queue::EntryKind::function, function.id.arn(), functions::encode(function));
  }
  keys_->refresh();
  for (int i = 0; i < 100; ++i) {
    functions::FunctionId id = kFunction;
    id.name = "f" + std::to_string(i);
    const auto key = keys_->key_for(id);
    EXPECT_TRUE(admit(key)) << i;
    ids.insert(key.id);
  }
  EXPECT_EQ(ids.size(), 100u);
}

}  // namespace
}  // namespace redrive::lambda
