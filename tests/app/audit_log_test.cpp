#include "app/audit_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace redrive::app {
namespace {

namespace fs = std::filesystem;

class AuditLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "audit-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  AuditLog open(std::uint64_t file_bytes, std::uint32_t files) {
    auto log = AuditLog::open({.path = path(), .file_bytes_max = file_bytes, .files_max = files});
    EXPECT_TRUE(log.has_value());
    return std::move(log.value());
  }
  std::string path(const std::string& suffix = "") const {
    return (directory_ / "audit.ndjson").string() + suffix;
  }
  static std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(AuditLogTest, RotatesBySizeAndKeepsSoManyFiles) {
  AuditLog log = open(10, 3);
  for (const char* const line : {"one 56789", "two", "three", "four 6789", "five"}) log.write(line);
  EXPECT_EQ(text_of(path()), "five\n");
  EXPECT_EQ(text_of(path(".1")), "four 6789\n");
  EXPECT_EQ(text_of(path(".2")), "two\nthree\n");
  EXPECT_EQ(files(), 3u);
}

TEST_F(AuditLogTest, CountsWhatIsThereAtAStart) {
  open(10, 2).write("one 56789");
  AuditLog log = open(10, 2);
  log.write("two");
  EXPECT_EQ(text_of(path()), "two\n");
  EXPECT_EQ(text_of(path(".1")), "one 56789\n");
}

TEST_F(AuditLogTest, ALineLongerThanAFileIsWrittenWhole) {
  AuditLog log = open(10, 2);
  log.write(std::string(100, 'x'));
  log.write("next");
  EXPECT_EQ(text_of(path(".1")), std::string(100, 'x') + "\n");
  EXPECT_EQ(text_of(path()), "next\n");
}

TEST_F(AuditLogTest, ASingleFileStartsAnew) {
  AuditLog log = open(10, 1);
  log.write("one 56789");
  log.write("two");
  EXPECT_EQ(text_of(path()), "two\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AuditLogTest, IsReopenedWhereItWasMovedAway) {
  AuditLog log = open(1000, 2);
  log.write("one");
  fs::rename(path(), path(".moved"));
  ASSERT_TRUE(log.reopen().has_value());
  log.write("two");
  EXPECT_EQ(text_of(path()), "two\n");
}

}  // namespace
}  // namespace redrive::app
