#include "bench/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace redrive::bench {
namespace {

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "redrive-bench");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(ParseOptions, TakesWhatItIsTold) {
  const auto [options, exit_code] = parse(
      {"e2e", "--port", "4711", "--batch", "10", "--pid", "42", "--core", "1", "--format", "csv"});
  ASSERT_EQ(exit_code, std::nullopt);
  EXPECT_EQ(options.mode, Mode::e2e);
  EXPECT_EQ(options.endpoint.port, 4711);
  EXPECT_EQ(options.batch, 10);
  EXPECT_EQ(options.server, 42);
  EXPECT_EQ(options.core, 1);
  EXPECT_EQ(options.format, Format::csv);
  EXPECT_EQ(options.connections, 32);
}

TEST(ParseOptions, RefusesWhatCannotBe) {
  const std::vector<std::vector<const char*>> cases = {
      {},
      {"fly"},
      {"send", "--batch", "11"},
      {"send", "--batch", "0"},
      {"send", "--size", "19"},
      {"send", "--connections", "0"},
      {"send", "--seconds", "0"},
      {"send", "--format", "xml"},
      {"send", "--protocol", "smtp"},
      {"wake", "--protocol", "redis"},
      {"send", "--protocol", "nats", "--groups", "2"},
      {"send", "--unknown", "1"},
  };
  for (const auto& words : cases) {
    SCOPED_TRACE(words.empty() ? "nothing" : words.back());
    EXPECT_EQ(parse(words).exit_code, 2);
  }
}

TEST(ParseOptions, HelpIsNoMistake) {
  EXPECT_EQ(parse({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace redrive::bench
