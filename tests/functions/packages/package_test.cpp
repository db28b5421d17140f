#include "functions/packages/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

namespace redrive::packages {
namespace {

namespace fs = std::filesystem;

class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::string pattern = (fs::temp_directory_path() / "package-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(out());
  }
  ~PackageTest() override { fs::remove_all(root_); }

  fs::path out() const { return root_ / "out"; }
  void write(const std::string& name, const std::string& text, bool program = false) const {
    const fs::path path = root_ / "in" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    if (program) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path root_;
};

// A malicious zip.
class ZipMaker {
 public:
  explicit ZipMaker(std::size_t bytes_max = 4u << 20) : archive_(archive_write_new()) {
    archive_write_set_format_zip(archive_);
    bytes_.resize(bytes_max);
    archive_write_open_memory(archive_, bytes_.data(), bytes_.size(), &used_);
  }
  ~ZipMaker() { archive_write_free(archive_); }
  ZipMaker& file(const std::string& name, const std::string& text) {
    return add(name, AE_IFREG, text, "");
  }
  ZipMaker& link(const std::string& name, const std::string& target) {
    return add(name, AE_IFLNK, "", target);
  }
  std::string bytes() {
    archive_write_close(archive_);
    return bytes_.substr(0, used_);
  }

 private:
  ZipMaker& add(const std::string& name, unsigned type, const std::string& text,
                const std::string& target) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0777);
    if (!target.empty()) archive_entry_set_symlink(entry, target.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    EXPECT_EQ(archive_write_header(archive_, entry), ARCHIVE_OK);
    archive_write_data(archive_, text.data(), text.size());
    archive_entry_free(entry);
    return *this;
  }

  archive* archive_;
  std::string bytes_;
  std::size_t used_ = 0;
};

TEST_F(PackageTest, UnpacksWhatWasPacked) {
  write("index.py", "def handler(event, context): return 1\n");
  write("lib/deep/data.json", "{}");
  write("bootstrap", "#!/bin/sh\n", true);
  write(".git/config", "secret");
  write("lib/__pycache__/x.pyc", "stale");
  const auto zip = pack(root_ / "in");
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  ASSERT_TRUE(unpack(*zip, out()).has_value());
  EXPECT_EQ(read(out() / "index.py"), "def handler(event, context): return 1\n");
  EXPECT_EQ(read(out() / "lib/deep/data.json"), "{}");
  EXPECT_NE(fs::status(out() / "bootstrap").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(out() / "index.py").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_FALSE(fs::exists(out() / ".git"));
  EXPECT_FALSE(fs::exists(out() / "lib/__pycache__"));
}

TEST_F(PackageTest, EqualFilesGiveEqualZips) {
  write("a.py", "1");
  write("b.py", "2");
  const auto first = pack(root_ / "in");
  fs::last_write_time(root_ / "in/a.py", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(*first, *pack(root_ / "in"));
  write("b.py", "3");
  EXPECT_NE(*first, *pack(root_ / "in"));
}

TEST_F(PackageTest, PacksOneFileAlone) {
  write("index.mjs", "export const handler = 1");
  ASSERT_TRUE(unpack(*pack(root_ / "in/index.mjs"), out()).has_value());
  EXPECT_TRUE(fs::exists(out() / "index.mjs"));
}

TEST_F(PackageTest, RefusesToPackNothing) {
  fs::create_directories(root_ / "in");
  EXPECT_FALSE(pack(root_ / "in").has_value());
  EXPECT_FALSE(pack(root_ / "missing").has_value());
}

TEST_F(PackageTest, NoNameLeadsOut) {
  for (const char* name : {"../evil", "a/../../evil", "/evil", "a/..", ".."}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(unpack(ZipMaker().file(name, "x").bytes(), out()).has_value());
    EXPECT_FALSE(fs::exists(root_ / "evil"));
  }
}

TEST_F(PackageTest, LinksStayWithin) {
  ASSERT_TRUE(
      unpack(ZipMaker().file("a/one", "1").link("b/two", "../a/one").bytes(), out()).has_value());
  EXPECT_EQ(read(out() / "b/two"), "1");
  for (const char* target : {"/etc/passwd", "../../etc", "..", "a/../../../x"}) {
    SCOPED_TRACE(target);
    fs::remove_all(out());
    fs::create_directories(out());
    EXPECT_FALSE(unpack(ZipMaker().link("link", target).bytes(), out()).has_value());
  }
}

TEST_F(PackageTest, NothingIsWrittenThroughLinks) {
  fs::create_directories(root_ / "elsewhere");
  const std::string zip = ZipMaker().link("d", "../elsewhere").file("d/evil", "x").bytes();
  EXPECT_FALSE(unpack(zip, out()).has_value());
  EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));
}

TEST_F(PackageTest, LinksThroughLinksStayWithin) {
  // Each link stays within on its own, but not after following the other.
  const std::string zip = ZipMaker()
                              .file("a/b/c/file", "1")
                              .link("short", "a/b/c")
                              .link("x/y/z/out", "../../../short/../../../../..")
                              .bytes();
  EXPECT_FALSE(unpack(zip, out()).has_value());
}

TEST_F(PackageTest, TwoFilesOfOneNameAreRefused) {
  EXPECT_FALSE(unpack(ZipMaker().file("a", "1").file("./a", "2").bytes(), out()).has_value());
}

TEST_F(PackageTest, TooManyFilesAreRefusedBeforeOneIsWritten) {
  ZipMaker zip(16u << 20);
  for (std::size_t i = 0; i <= kFilesMax; ++i) zip.file(std::to_string(i), "");
  const auto unpacked = unpack(zip.bytes(), out());
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().message, "The zip has more than 50000 files.");
  EXPECT_TRUE(fs::is_empty(out()));
}

TEST_F(PackageTest, WhatIsNoZipIsRefused) {
  const auto refused = unpack("this is text", out());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_parameter_value);
  EXPECT_FALSE(unpack("", out()).has_value());
  EXPECT_FALSE(unpack(ZipMaker().bytes(), out()).has_value());
}

TEST_F(PackageTest, DamagedZipsDoNoHarm) {
  const std::string whole =
      ZipMaker().file("a/one", std::string(5000, 'x')).link("b", "a/one").file("c", "").bytes();
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string zip = whole;
    for (int i = 0; i < 3; ++i) zip[random() % zip.size()] = static_cast<char>(random());
    if (round % 3 == 0) zip.resize(random() % zip.size());
    fs::remove_all(out());
    fs::create_directories(out());
    (void)unpack(zip, out());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

}  // namespace
}  // namespace redrive::packages
