#include "functions/runtime/log_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/calendar.h"

namespace redrive::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr std::size_t kAll = 1'000'000;

class LogFilesTest : public ::testing::Test {
 protected:
  LogFilesTest() { fs::remove_all(directory_); }
  ~LogFilesTest() override { fs::remove_all(directory_); }

  static LogLine line(std::uint64_t sequence, std::string text, std::string id = "id") {
    return {.sequence = sequence,
            .wall = *parse_utc("2026-01-31T23:59:59.123Z"),
            .request_id = std::move(id),
            .text = std::move(text)};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  const fs::path directory_ =
      fs::temp_directory_path() / ("log_files_test." + std::to_string(::getpid()));
  LogFiles logs_{directory_};
  const std::string arn_ = "arn:aws:lambda:us-east-1:000000000000:function:f";
};

TEST_F(LogFilesTest, GivesBackWhatItWasGiven) {
  const std::vector lines = {line(7, "two  words ", "a-b"), line(8, "", ""), line(9, "\xff\x01")};
  logs_.append(arn_, lines);
  const auto read = LogFiles(directory_).lines_after(arn_, 0, kAll);
  ASSERT_EQ(read.size(), 3u);
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].sequence, lines[i].sequence);
    EXPECT_EQ(read[i].wall, lines[i].wall);
    EXPECT_EQ(read[i].request_id, lines[i].request_id);
    EXPECT_EQ(read[i].text, lines[i].text);
  }
  EXPECT_EQ(logs_.lines_after(arn_, 8, kAll).size(), 1u);
  EXPECT_EQ(logs_.lines_after(arn_, 0, 2).back().sequence, 8u);
  EXPECT_EQ(logs_.sequence_last(arn_), 9u);
}

TEST_F(LogFilesTest, IsBounded) {
  std::uint64_t sequence = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector lines = {line(++sequence, std::string(8000, 'x'))};
    logs_.append(arn_, lines);
  }
  EXPECT_EQ(files(), 2u);
  const auto read = logs_.lines_after(arn_, 0, kAll);
  EXPECT_GT(read.size(), 64u) << "at least as many as fill a file";
  EXPECT_LT(read.size(), 140u);
  EXPECT_EQ(read.back().sequence, 300u);
  EXPECT_EQ(logs_.sequence_last(arn_), 300u);
}

TEST_F(LogFilesTest, PassesOverWhatItCannotRead) {
  logs_.append(arn_, std::vector{line(1, "good")});
  const fs::path file = fs::directory_iterator(directory_)->path();
  std::ofstream(file, std::ios::app) << "\nnonsense\n2 no-time id text\n3 2026-01-31T23:59";
  EXPECT_EQ(logs_.lines_after(arn_, 0, kAll).size(), 1u);
  EXPECT_EQ(logs_.sequence_last(arn_), 1u);
}

TEST_F(LogFilesTest, ForgetsWhoIsGone) {
  const std::string other = arn_ + ":3";
  logs_.append(arn_, std::vector{line(1, "a")});
  logs_.append(other, std::vector{line(1, "b")});
  logs_.keep_only({other});
  EXPECT_THAT(logs_.lines_after(arn_, 0, kAll), IsEmpty());
  EXPECT_EQ(logs_.lines_after(other, 0, kAll).size(), 1u);
  logs_.remove(other);
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(logs_.sequence_last(other), 0u);
}

TEST_F(LogFilesTest, WithoutADirectoryKeepsNothing) {
  LogFiles none{""};
  none.append(arn_, std::vector{line(1, "a")});
  none.keep_only({});
  none.remove(arn_);
  EXPECT_THAT(none.lines_after(arn_, 0, kAll), IsEmpty());
  EXPECT_EQ(none.sequence_last(arn_), 0u);
}

}  // namespace
}  // namespace redrive::runtime
