#include "stack/package.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/text.h"

namespace redrive::stack {
namespace {

namespace fs = std::filesystem;

class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::string name = (fs::temp_directory_path() / "redrive-package-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~PackageTest() override { fs::remove_all(root_); }
  void write(const fs::path& name, std::string_view text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  fs::path root_;
};

TEST(Zip, IsLaidOutAsOthersReadIt) {
  const std::string packed = zip({{.name = "a", .bytes = "abc", .executable = true}});
  // 352441c2 is the CRC-32 of abc, as every zip tool has it.
  EXPECT_EQ(to_hex(packed.substr(0, 34)),
            "504b03041400000800000000"
            "2100"
            "c2412435"
            "0300000003000000"
            "01000000"
            "61616263");
  EXPECT_EQ(packed.size(), 34u + 47u + 22u);
  EXPECT_EQ(to_hex(packed.substr(34, 4)), "504b0102");
  EXPECT_EQ(to_hex(packed.substr(81, 4)), "504b0506");
}

TEST_F(PackageTest, TheSameFilesGiveTheSameBytes) {
  write("index.py", "x");
  write("lib/a.py", "y");
  write("__pycache__/index.pyc", "compiled");
  const auto first = package(root_);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  fs::remove(root_ / "index.py");
  write("index.py", "x");  // Later, and elsewhere in the directory.
  EXPECT_EQ(package(root_).value(), *first);
  EXPECT_EQ(*first, zip({{.name = "lib/a.py", .bytes = "y"}, {.name = "index.py", .bytes = "x"}}));
}

TEST_F(PackageTest, AZipStaysAndAFileIsPacked) {
  const std::string zipped = zip({{.name = "index.js", .bytes = "1"}});
  write("code.zip", zipped);
  EXPECT_EQ(package(root_ / "code.zip").value(), zipped);
  write("index.js", "1");
  EXPECT_EQ(package(root_ / "index.js").value(), zipped);
}

TEST_F(PackageTest, WithoutCodeThereIsNoPackage) {
  EXPECT_FALSE(package(root_ / "nowhere").has_value());
  EXPECT_FALSE(package(root_).has_value());
}

}  // namespace
}  // namespace redrive::stack
