#include "core/journal/posix_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/journal/pages.h"
#include "tests/core/journal/journal_testing.h"

namespace redrive::journal {
namespace {

class PosixFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "journal-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern + "/data";
    parent_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(parent_); }

  std::unique_ptr<PosixFiles> must_open_files() {
    auto files = PosixFiles::open(directory_, OpenMode::create);
    EXPECT_TRUE(files.has_value()) << files.error().message;
    return std::move(files.value());
  }

  std::string parent_;
  std::string directory_;
};

TEST_F(PosixFilesTest, MakesTheDirectoryOnlyWhenAsked) {
  const auto refused = PosixFiles::open(directory_, OpenMode::must_exist);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::storage_io);
  EXPECT_NE(refused.error().message.find(directory_), std::string::npos);

  must_open_files();
  struct stat status;
  ASSERT_EQ(::stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_TRUE(PosixFiles::open(directory_, OpenMode::must_exist).has_value());
}

TEST_F(PosixFilesTest, RefusesASecondOpenerAndNamesTheFirst) {
  auto first = must_open_files();
  const auto second = PosixFiles::open(directory_, OpenMode::create);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::storage_locked);
  EXPECT_NE(second.error().message.find(directory_), std::string::npos);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
  first.reset();
  EXPECT_TRUE(PosixFiles::open(directory_, OpenMode::create).has_value());
}

// The directory is locked: removing or replacing the lock file does not release it.
TEST_F(PosixFilesTest, RemovingTheLockFileLetsNoSecondOpenerIn) {
  auto first = must_open_files();
  std::filesystem::remove(directory_ + "/lock");
  const auto second = PosixFiles::open(directory_, OpenMode::create);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::storage_locked);
  first.reset();
  EXPECT_TRUE(PosixFiles::open(directory_, OpenMode::create).has_value());
}

// As an earlier version holds it: only the file is locked.
TEST_F(PosixFilesTest, AProcessThatHoldsOnlyTheLockFileKeepsOthersOut) {
  must_open_files();
  const int held = ::open((directory_ + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(PosixFiles::open(directory_, OpenMode::create).has_value());
  ::close(held);
}

// A forked child holds its parent's locks until it execs. If the parent is killed at that moment,
// the next start waits for the child instead of failing.
TEST_F(PosixFilesTest, WaitsForTheChildOfAnOwnerThatDied) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    auto files = PosixFiles::open(directory_, OpenMode::create);
    if (::fork() == 0) {
      char byte;
      ::close(gate[1]);
      (void)!::read(gate[0], &byte, 1);  // Holds the locks until the test ends it.
      ::_exit(0);
    }
    ::_exit(files.has_value() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  ASSERT_EQ(status, 0);
  std::thread let_go([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::close(gate[1]);
  });
  const auto second = PosixFiles::open(directory_, OpenMode::create);
  EXPECT_TRUE(second.has_value()) << second.error().message;
  let_go.join();
  ::close(gate[0]);
}

// `kill -9` followed at once by a start: the killed process may still be exiting, and stays a
// zombie until its parent waits for it.
TEST_F(PosixFilesTest, WaitsForAnOwnerThatWasJustKilled) {
  for (int round = 0; round < 20; ++round) {
    int opened[2];
    ASSERT_EQ(::pipe(opened), 0);
    const pid_t owner = ::fork();
    ASSERT_GE(owner, 0);
    if (owner == 0) {
      auto files = PosixFiles::open(directory_, OpenMode::create);
      if (::fork() == 0) {  // Holds the locks for a moment longer.
        ::usleep(20'000);
        ::_exit(0);
      }
      (void)!::write(opened[1], files.has_value() ? "y" : "n", 1);
      ::pause();
    }
    char byte = 'n';
    ASSERT_EQ(::read(opened[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
    ASSERT_EQ(::kill(owner, SIGKILL), 0);
    const auto next = PosixFiles::open(directory_, OpenMode::create);
    EXPECT_TRUE(next.has_value()) << next.error().message;
    ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
    ::close(opened[0]);
    ::close(opened[1]);
  }
}

TEST_F(PosixFilesTest, ExchangesNamesAndKeepsBothFiles) {
  auto files = must_open_files();
  ASSERT_TRUE((*files->create("a"))->write(0, "was a").has_value());
  ASSERT_TRUE((*files->create("b"))->write(0, "was b").has_value());
  ASSERT_TRUE(files->exchange("a", "b").has_value());
  std::string text(5, '\0');
  ASSERT_TRUE((*files->open("b"))->read(0, text.data(), 5).has_value());
  EXPECT_EQ(text, "was a");
  EXPECT_FALSE(files->exchange("a", "no such directory/b").has_value());
}

TEST_F(PosixFilesTest, AProcessThatDiedHoldsNoLock) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto files = PosixFiles::open(directory_, OpenMode::create);
    ::_exit(files ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(PosixFiles::open(directory_, OpenMode::must_exist).has_value());
}

TEST_F(PosixFilesTest, ReadsWritesReservesRenamesAndRemoves) {
  auto files = must_open_files();
  auto file = files->create("a").value();
  ASSERT_TRUE(file->write(3, "hello").has_value());
  ASSERT_TRUE(file->sync().has_value());
  EXPECT_EQ(file->size().value(), 8u);
  ASSERT_TRUE(file->reserve(100).has_value());
  EXPECT_EQ(file->size().value(), 100u);
  std::string out(200, 'x');
  EXPECT_EQ(file->read(0, out.data(), out.size()).value(), 100u);
  EXPECT_EQ(out.substr(0, 9), std::string("\0\0\0hello\0", 9));
  EXPECT_EQ(file->read(100, out.data(), 1).value(), 0u);

  ASSERT_TRUE(files->rename("a", "b").has_value());
  ASSERT_TRUE(files->sync_directory().has_value());
  EXPECT_EQ(files->list().value(), (std::vector<std::string>{"b", "lock"}));
  EXPECT_TRUE(files->open("b").has_value());
  const auto missing = files->open("a");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::storage_io);
  EXPECT_NE(missing.error().message.find(directory_ + "/a"), std::string::npos);
  EXPECT_TRUE(files->remove("b").has_value());
  EXPECT_FALSE(files->remove("b").has_value());
}

TEST_F(PosixFilesTest, WritesMorePartsThanOneCallTakes) {
  auto files = must_open_files();
  auto file = files->create("a").value();
  std::vector<std::string> parts;
  for (std::uint64_t i = 0; i < 3000; ++i) parts.push_back(numbered(i, i % 50));
  std::string whole = "??";
  for (const std::string& part : parts) whole += part;
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  ASSERT_TRUE(file->write(0, "??").has_value());
  ASSERT_TRUE(file->write(2, views).has_value());
  std::string out(whole.size() + 1, 'x');
  EXPECT_EQ(file->read(0, out.data(), out.size()).value(), whole.size());
  EXPECT_EQ(out.substr(0, whole.size()), whole);
}

// Direct and cached I/O see the same file.
TEST_F(PosixFilesTest, PagesAreSeenByWhoeverReadsAndWritesInAnotherWay) {
  auto files = must_open_files();
  auto file = files->create("a").value();
  Pages pages;
  pages.grow(3 * kPageBytes);
  std::memset(pages.data(), 'a', 3 * kPageBytes);
  ASSERT_TRUE(file->write(0, std::string(4 * kPageBytes, 'x')).has_value());
  ASSERT_TRUE(files->rename("a", "b").has_value());  // It was opened under another name.
  ASSERT_TRUE(file->write_pages(kPageBytes, {pages.data(), 2 * kPageBytes}).has_value());
  ASSERT_TRUE(file->write(100, "yz").has_value());
  std::string out(4 * kPageBytes + 1, '?');
  EXPECT_EQ(file->read(0, out.data(), out.size()).value(), 4 * kPageBytes);
  EXPECT_EQ(out.find('a'), kPageBytes);
  EXPECT_EQ(out.find('x', kPageBytes), 3 * kPageBytes);
  // Also the end of a file with an incomplete last page.
  ASSERT_TRUE(file->write(4 * kPageBytes, "end").has_value());
  EXPECT_EQ(file->read_pages(2 * kPageBytes, pages.data(), 3 * kPageBytes).value(),
            2 * kPageBytes + 3);
  EXPECT_EQ(std::string_view(pages.data() + 2 * kPageBytes, 3), "end");
  EXPECT_EQ(pages.data()[0], 'a');
  EXPECT_EQ(file->read_pages(0, pages.data(), kPageBytes).value(), kPageBytes);
  EXPECT_EQ(std::string_view(pages.data() + 100, 2), "yz");
}

// Whole pages bypass the page cache, which may hold older content; partial pages cannot.
TEST_F(PosixFilesTest, ZerosReplaceWhatWasWrittenWhereverTheyBegin) {
  constexpr std::size_t kSize = 400'000;
  auto files = must_open_files();
  const std::pair<std::size_t, std::size_t> ranges[] = {
      {4096, 4096 * 50}, {0, 4096}, {1000, 4096 * 20}, {8192, 100'001}};
  for (const auto& [from, size] : ranges) {
    auto file = files->create("a").value();
    ASSERT_TRUE(file->write(0, std::string(kSize, 'x')).has_value());
    ASSERT_TRUE(file->write_zeros(from, size).has_value());
    ASSERT_TRUE(file->write(kSize, "end").has_value());  // Normal writes still work.
    std::string expected(kSize, 'x');
    expected.replace(from, size, size, '\0');
    std::string out(kSize + 3, '?');
    EXPECT_EQ(file->read(0, out.data(), out.size()).value(), out.size());
    EXPECT_TRUE(out == expected + "end") << from << " " << size;
  }
}

TEST_F(PosixFilesTest, AFullDeviceIsToldFromOtherErrors) {
  auto files = must_open_files();
  std::filesystem::create_symlink("/dev/full", directory_ + "/full");
  auto file = files->open("full");
  if (!file) GTEST_SKIP() << "no /dev/full here";
  const auto written = (*file)->write(0, "x");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::storage_full);
}

TEST_F(PosixFilesTest, AJournalLivesInRealFiles) {
  std::map<Sequence, std::string> records;
  {
    auto files = must_open_files();
    auto opened = must_open(*files);
    for (std::uint64_t i = 1; i <= 50; ++i) {
      records[i] = numbered(i, i * 50);
      opened.journal->append(records[i]);
      if (i % 9 == 0) must_sync(*opened.journal);
    }
    must_sync(*opened.journal);
    must_housekeep(*opened.journal);
    EXPECT_EQ(opened.journal->totals().spares, 2u);
  }
  auto files = must_open_files();
  auto opened = must_open(*files);
  EXPECT_EQ(opened.replayed, records);
  EXPECT_EQ(must_read(*opened.journal, opened.locations[7], records[7].size()), records[7]);
  EXPECT_TRUE(check_journal(*files)->healthy);
}

TEST_F(PosixFilesTest, AForeignDirectoryIsNamedAndLeftAsItIs) {
  std::filesystem::create_directory(directory_);
  std::ofstream(directory_ + "/thesis.txt") << "chapter one";
  const auto opened = PosixFiles::open(directory_, OpenMode::create);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::storage_foreign);
  EXPECT_NE(opened.error().message.find(directory_), std::string::npos);
  const auto begin = std::filesystem::directory_iterator(directory_);
  EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 1);  // No lock file.
}

}  // namespace
}  // namespace redrive::journal
