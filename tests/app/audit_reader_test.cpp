#include "app/audit_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/audit_log.h"

namespace redrive::app {
namespace {

namespace fs = std::filesystem;

class AuditReaderTest : public testing::Test {
 protected:
  AuditReaderTest() {
    std::string pattern = (fs::temp_directory_path() / "audit-reader-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~AuditReaderTest() override { fs::remove_all(directory_); }

  void open(std::uint64_t file_bytes) {
    log_.emplace(*AuditLog::open({.path = path(), .file_bytes_max = file_bytes, .files_max = 8}));
  }
  std::string path() const { return (directory_ / "audit.ndjson").string(); }
  static std::string line(int n, std::string_view who = "ana", std::size_t padding = 0) {
    return fmt::format(R"({{"n":{},"who":"{}","action":"PurgeQueue","resource":"orders-{}{}"}})",
                       n,
                       who,
                       n,
                       std::string(padding, 'x'));
  }
  void write(int n, std::string_view who = "ana", std::size_t padding = 0) {
    log_->write(line(n, who, padding));
  }
  // All lines, page by page.
  std::vector<std::string> read(manage::AuditQuery query) {
    std::vector<std::string> all;
    do {
      const auto page = AuditReader(path()).page(query);
      EXPECT_TRUE(page.has_value());
      EXPECT_LE(page->lines.size(), query.limit);
      all.insert(all.end(), page->lines.begin(), page->lines.end());
      query.after = page->next;
    } while (!query.after.empty());
    return all;
  }

  fs::path directory_;
  std::optional<AuditLog> log_;
};

TEST_F(AuditReaderTest, ShowsTheNewestFirstAcrossFiles) {
  open(1000);
  std::vector<std::string> expected;
  for (int n = 0; n < 60; ++n) {
    write(n);
    expected.insert(expected.begin(), line(n));
  }
  for (const std::size_t limit : {1, 7, 60, 100}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(read({.limit = limit}), expected);
  }
}

TEST_F(AuditReaderTest, ReadsLinesLongerThanABlock) {
  open(64u << 20);
  std::vector<std::string> expected;
  for (int n = 0; n < 5; ++n) {
    const std::size_t padding = static_cast<std::size_t>(n) * 50'000;
    write(n, "ana", padding);
    expected.insert(expected.begin(), line(n, "ana", padding));
  }
  EXPECT_EQ(read({.limit = 2}), expected);
}

TEST_F(AuditReaderTest, ContinuesWhereItStoppedAfterARotation) {
  open(400);
  for (int n = 0; n < 6; ++n) write(n);
  const auto first = AuditReader(path()).page({.limit = 2});
  ASSERT_EQ(first->lines, (std::vector{line(5), line(4)}));
  for (int n = 6; n < 14; ++n) write(n);  // Several rotations.
  EXPECT_EQ(read({.after = first->next, .limit = 2}),
            (std::vector{line(3), line(2), line(1), line(0)}));
}

TEST_F(AuditReaderTest, FiltersByWhoActionAndResource) {
  open(1000);
  for (int n = 0; n < 10; ++n) write(n, n % 2 == 0 ? "Ana" : "bob");
  EXPECT_EQ(read({.who = "ana"}).size(), 5u);
  EXPECT_EQ(read({.who = "BOB", .resource = "orders-3"}), std::vector{line(3, "bob")});
  EXPECT_EQ(read({.action = "purge"}).size(), 10u);
  EXPECT_TRUE(read({.action = "delete"}).empty());
}

TEST_F(AuditReaderTest, PassesOverWhatIsNoLine) {
  open(1000);
  log_->write("not JSON");
  write(1);
  log_->write("{\"half\":");
  EXPECT_EQ(read({}), std::vector{line(1)});
}

TEST_F(AuditReaderTest, NoFileIsAnEmptyLog) {
  EXPECT_TRUE(read({}).empty());
  EXPECT_EQ(AuditReader(path()).page({.after = "x"}).error().code,
            ErrorCode::invalid_parameter_value);
  EXPECT_TRUE(AuditReader(path()).page({.after = "1-2"})->lines.empty());
}

}  // namespace
}  // namespace redrive::app
