#include "core/queue/consumer_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace redrive::queue {
namespace {

using Kind = ConsumerName::Kind;

TEST(ConsumerName, SaysWhatItRead) {
  const std::vector<ConsumerName> names = {
      {.kind = Kind::function,
       .name = "orders",
       .code = "9f3c2a1b",
       .version = "4",
       .interpreter = "python3.11.2"},
      {.kind = Kind::function, .name = "orders"},
      {.name = "checkout",
       .interpreter = "python3.11.2",
       .app = "checkout-1.4",
       .agent = "Boto3/1.34.2",
       .address = "10.0.0.7"},
      {.name = "checkout", .address = "::1"},
      {.name = "a key with spaces", .app = "v2", .address = "10.0.0.7"},
      {.name = "patient"},
  };
  for (const ConsumerName& name : names)
    EXPECT_EQ(parse_consumer_name(name.text()), name) << name.text();
}

// Data directories have names that were written before there were fields.
TEST(ConsumerName, ReadsPlainNames) {
  EXPECT_EQ(parse_consumer_name("function:orders").name, "orders");
  EXPECT_EQ(parse_consumer_name("function:orders").kind, Kind::function);
  const ConsumerName client = parse_consumer_name("AKIA123 127.0.0.1");
  EXPECT_EQ(client.name, "AKIA123");
  EXPECT_EQ(client.address, "127.0.0.1");
  EXPECT_EQ(client.plain(), "AKIA123 127.0.0.1");
  EXPECT_EQ(client.code_version(), "");
  EXPECT_EQ(parse_consumer_name("").plain(), "");
}

TEST(ConsumerName, CodeIsTheSameOnAllHosts) {
  const auto one = parse_consumer_name("checkout 10.0.0.7 app=v2 agent=Boto3/1.34.2");
  const auto other = parse_consumer_name("checkout 10.0.0.8 app=v2 agent=Boto3/1.35.0");
  EXPECT_EQ(one.code_key(), "checkout app=v2");
  EXPECT_EQ(other.code_key(), one.code_key());
  EXPECT_EQ(one.role(), "checkout");
  EXPECT_EQ(parse_consumer_name(one.code_key()).code_key(), one.code_key());
  EXPECT_EQ(parse_consumer_name("function:f code=9f3c2a1b runtime=python3.11.2").code_key(),
            "function:f code=9f3c2a1b");
}

TEST(UserAgent, KeepsProductAppAndInterpreter) {
  EXPECT_EQ(
      parse_user_agent("Boto3/1.34.2 md/Botocore#1.34.2 ua/2.0 os/linux#6.1 md/arch#x86_64 "
                       "lang/python#3.11.2 md/pyimpl#CPython cfg/retry-mode#legacy "
                       "Botocore/1.34.2 app/checkout-1.4"),
      (UserAgent{.app = "checkout-1.4", .agent = "Boto3/1.34.2", .interpreter = "python3.11.2"}));
  EXPECT_EQ(
      parse_user_agent("aws-sdk-js/3.400.0 ua/2.0 os/linux#6.1 lang/js md/nodejs#18.19.0 "
                       "api/sqs#3.400.0 app/9f3c2a"),
      (UserAgent{.app = "9f3c2a", .agent = "aws-sdk-js/3.400.0", .interpreter = "nodejs18.19.0"}));
  EXPECT_EQ(parse_user_agent("Boto3/1.26.27 Python/3.11.2 Linux/6.1.0 Botocore/1.29.27 app/v1"),
            (UserAgent{.app = "v1", .agent = "Boto3/1.26.27", .interpreter = "python3.11.2"}));
  EXPECT_EQ(parse_user_agent(""), UserAgent{});
}

// Clients choose it, and it becomes part of a name with fields.
TEST(UserAgent, CannotForgeFieldsNorGrow) {
  const UserAgent read = parse_user_agent("x=1\ty app/v\tcode=9f3c2a1b" + std::string(1000, 'x'));
  EXPECT_EQ(read.app.size(), kConsumerFieldBytes);
  EXPECT_EQ(read.app.find_first_of(" =\t"), std::string::npos);
  const ConsumerName name{.name = "k", .app = read.app, .agent = read.agent, .address = "10.0.0.7"};
  EXPECT_EQ(parse_consumer_name(name.text()).code, "");
  EXPECT_EQ(parse_consumer_name(name.text()).name, "k");
}

TEST(CodeDigits, AreThoseOfTheDigest) {
  EXPECT_EQ(code_digits("nzwqGzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzw="), "9f3c2a1b");
  EXPECT_EQ(code_digits(""), "");
  EXPECT_EQ(code_digits("no base64"), "");
}

}  // namespace
}  // namespace redrive::queue
