#include "base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace redrive {
namespace {

namespace fs = std::filesystem;

class FileSystemTest : public testing::Test {
 protected:
  FileSystemTest()
      : root_(fs::temp_directory_path() / ("file-system-" + std::to_string(::getpid()))) {
    fs::create_directories(root_);
  }
  ~FileSystemTest() override { fs::remove_all(root_); }

  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return root_ / name;
  }

  fs::path root_;
};

TEST_F(FileSystemTest, ReadsFilesOfAnySize) {
  for (const std::size_t size : {0, 1, 65'535, 65'536, 65'537, 300'000}) {
    SCOPED_TRACE(size);
    const std::string bytes(size, '\0');
    EXPECT_EQ(read_file(write("file", bytes)), bytes);
  }
}

// /proc/self/mem can be opened, but the page at address 0 cannot be read: read() fails as it does
// for a process that has just exited.
TEST_F(FileSystemTest, ReportsFilesThatCannotBeRead) {
  EXPECT_EQ(read_file(root_ / "missing"), std::nullopt);
  EXPECT_EQ(read_file(root_), std::nullopt);
  EXPECT_EQ(read_file("/proc/self/mem"), std::nullopt);
}

TEST_F(FileSystemTest, VisitsEachEntryOnce) {
  write("a", "");
  write("b", "");
  std::vector<std::string> names;
  for_each_entry(root_, [&](const fs::directory_entry& entry) {
    names.push_back(entry.path().filename().string());
  });
  EXPECT_THAT(names, testing::UnorderedElementsAre("a", "b"));
}

TEST_F(FileSystemTest, VisitsNothingInADirectoryThatCannotBeOpened) {
  for_each_entry(root_ / "missing", [](const fs::directory_entry&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace redrive
