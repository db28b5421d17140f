#include "front/masking.h"

#include <gtest/gtest.h>

#include "aws/sqs/model/types.h"

namespace redrive::front {
namespace {

struct Shown {
  std::string_view body;
  sqs::MessageAttributes attributes;
};
consteval auto shape_of(Shown*) {
  return wire::shape(wire::optional("body", &Shown::body).sensitive(),
                     wire::optional("attributes", &Shown::attributes).each("attribute"));
}

auth::AccessKey key_of(auth::Role role) {
  return {.id = "K", .secret = "s", .role = role};
}

TEST(Masking, IsForReadersAlwaysAndForOthersUnlessTheyAsk) {
  const auth::AccessKey reader = key_of(auth::Role::reader);
  const auth::AccessKey admin = key_of(auth::Role::admin);
  const struct {
    const auth::AccessKey* key;
    std::string_view query;
    bool masked;
  } cases[] = {
      {&reader, "", true},
      {&reader, "unmasked=true", true},
      {&admin, "", true},
      {&admin, "limit=1&unmasked=true", false},
      {&admin, "unmasked=%74rue", false},
      {&admin, "unmasked=false", true},
      {&admin, "filter=unmasked=true", true},
      {nullptr, "", true},
      {nullptr, "unmasked=true", false},
  };
  for (const auto& one : cases) {
    Caller caller;
    caller.key = one.key;
    EXPECT_EQ(Masking(caller, one.query, nullptr).masked(), one.masked) << one.query;
  }
}

TEST(Masking, MasksBodiesAndAttributesByNameAndByRule) {
  const auto rules =
      std::make_shared<const triage::MaskRules>(*triage::MaskRules::make({"$.name"}, {"tenant"}));
  Masking masking(Caller{}, "", rules);
  Shown shown{.body = R"({"password":"x","name":"Ana","n":1})",
              .attributes = {{"token", {.data_type = "String", .string_value = "a"}},
                             {"Tenant", {.data_type = "String", .string_value = "b"}},
                             {"key", {.data_type = "Binary", .binary_value = wire::Blob{"pin=1"}}},
                             {"plain", {.data_type = "String", .string_value = "c"}}}};
  masking.apply(shown);
  EXPECT_EQ(shown.body, R"({"password":"***","name":"***","n":1})");
  EXPECT_EQ(shown.attributes[0].second.string_value, "***");
  EXPECT_EQ(shown.attributes[0].second.data_type, "String");
  EXPECT_EQ(shown.attributes[1].second.string_value, "***");
  EXPECT_EQ(shown.attributes[2].second.binary_value->bytes, "pin=***");
  EXPECT_EQ(shown.attributes[3].second.string_value, "c");
}

TEST(Masking, AddsItsMemberToAnyObject) {
  std::string empty = "{}";
  append_masked_member(empty, true);
  EXPECT_EQ(empty, R"({"masked":true})");
  std::string full = R"({"a":1})";
  append_masked_member(full, false);
  EXPECT_EQ(full, R"({"a":1,"masked":false})");
}

}  // namespace
}  // namespace redrive::front
