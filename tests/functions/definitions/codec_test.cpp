#include "functions/definitions/codec.h"

#include <gtest/gtest.h>

namespace redrive::functions {
namespace {

Function some_function() {
  return {.id = {"123456789012", "eu-west-1", "resize"},
          .description = "says \"hello\"\n",
          .runtime = "python3.11",
          .handler = "index.handler",
          .role = "arn:aws:iam::123456789012:role/r",
          .timeout = std::chrono::seconds(900),
          .memory_mb = 512,
          .environment = {{"A", "1"}, {"Ü", "ß"}},
          .tags = {{"team", "a"}},
          .reserved_concurrency = 0,
          .dead_letter_arn = "arn:aws:sqs:eu-west-1:123456789012:dead",
          .code_sha256 = "abc=",
          .code_size = 1ull << 40,
          .directory = "/home/dev/fn",
          .command = {"/bin/sh", "-c", "cat"},
          .url = "http://127.0.0.1:1/",
          .architecture = "arm64",
          .storage_mb = 1024,
          .tracing = "Active",
          .permissions = {{"s1", R"({"Effect":"Allow"})"}},
          .revision = "r",
          .modified_wall = Timestamp(1'767'225'600'123)};
}

Mapping some_mapping() {
  return {.id = "e40d8c46-7a22-434c-aa0c-ea0486e4275d",
          .account = "123456789012",
          .region = "eu-west-1",
          .queue_arn = "arn:aws:sqs:eu-west-1:123456789012:orders",
          .function_arn = "arn:aws:lambda:eu-west-1:123456789012:function:resize",
          .enabled = false,
          .batch_size = 100,
          .window = std::chrono::seconds(5),
          .report_item_failures = true,
          .filters = {R"({"body":{"a":[1]}})"},
          .concurrency_max = 7,
          .pollers_min = 2,
          .pollers_max = 9,
          .counts_events = true,
          .tags = {{"k", "v"}},
          .modified_wall = Timestamp(5),
          .bisect = true,
          .retries_max = 0,
          .age_max = std::chrono::seconds(60),
          .on_success = "arn:aws:s3:::kept",
          .on_failure = "https://example.test/hook",
          .retriers = {{.error_equals = {"A", "B"}, .max_attempts = 0},
                       {.error_equals = {"States.ALL"},
                        .interval_seconds = 2,
                        .max_attempts = 5,
                        .backoff_rate = 1.5,
                        .max_delay_seconds = 60,
                        .jitter = Retrier::Jitter::full}},
          .isolate_retries = false};
}

// If the codec forgot a member, encoding the decoded value would give another document.
TEST(FunctionsCodec, FunctionsComeBack) {
  const std::string document = encode(some_function());
  const auto decoded = decode_function(document);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode(*decoded), document);
  EXPECT_EQ(decoded->id, some_function().id);
  EXPECT_EQ(decoded->environment, some_function().environment);
  EXPECT_EQ(decoded->command, some_function().command);
  EXPECT_EQ(decoded->reserved_concurrency, 0u);
  EXPECT_EQ(decoded->timeout, std::chrono::seconds(900));
  EXPECT_EQ(decoded->modified_wall, Timestamp(1'767'225'600'123));
  EXPECT_EQ(decoded->permissions, some_function().permissions);
  EXPECT_NE(document, encode(Function{}));
}

TEST(FunctionsCodec, MappingsComeBack) {
  const std::string document = encode(some_mapping());
  const auto decoded = decode_mapping(document);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode(*decoded), document);
  EXPECT_FALSE(decoded->enabled);
  EXPECT_EQ(decoded->retries_max, 0u);
  ASSERT_EQ(decoded->retriers.size(), 2u);
  EXPECT_EQ(decoded->retriers[0].max_attempts, 0u);
  EXPECT_EQ(decoded->retriers[0].max_delay_seconds, std::nullopt);
  EXPECT_EQ(decoded->retriers[1].backoff_rate, 1.5);
  EXPECT_EQ(decoded->retriers[1].jitter, Retrier::Jitter::full);
  EXPECT_EQ(decoded->filters, some_mapping().filters);
  EXPECT_EQ(decoded->isolate_retries, false);
  EXPECT_EQ(decode_mapping(encode(Mapping{}))->isolate_retries, std::nullopt);
}

TEST(FunctionsCodec, InvokeConfigsComeBack) {
  const InvokeConfig config{.function_arn = "arn",
                            .retries_max = 1,
                            .age_max = std::chrono::seconds(60),
                            .on_success = "a",
                            .on_failure = "b",
                            .modified_wall = Timestamp(7)};
  const auto decoded = decode_invoke_config(encode(config));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode(*decoded), encode(config));
  EXPECT_EQ(decoded->retries_max, 1u);
}

TEST(FunctionsCodec, WhatIsAbsentHasItsDefault) {
  const auto function = decode_function(R"({"id":{"name":"f"},"unknown":[1]})");
  ASSERT_TRUE(function.has_value());
  EXPECT_EQ(function->timeout, std::chrono::seconds(3));
  EXPECT_EQ(function->reserved_concurrency, std::nullopt);
  EXPECT_EQ(function->architecture, "x86_64");
  EXPECT_TRUE(decode_mapping("{}")->enabled);
  EXPECT_EQ(decode_mapping("{}")->batch_size, 10u);
}

TEST(FunctionsCodec, DamageIsAnError) {
  for (const char* document : {"",
                               "[]",
                               "{",
                               R"({"timeout":"3"})",
                               R"({"memory":-1})",
                               R"({"environment":{"A":1}})",
                               R"({"command":"sh"})"}) {
    SCOPED_TRACE(document);
    EXPECT_FALSE(decode_function(document).has_value());
  }
}

}  // namespace
}  // namespace redrive::functions
