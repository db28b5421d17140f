#include "aws/lambda/code_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/digest.h"
#include "base/text.h"
#include "functions/packages/package.h"

namespace redrive::lambda {
namespace {

namespace fs = std::filesystem;

class CodeStoreTest : public testing::Test {
 protected:
  CodeStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "code-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CodeStoreTest() override { fs::remove_all(root_); }

  std::string zip(const std::string& text) const {
    const fs::path source = root_ / "index.py";
    std::ofstream(source) << text;
    return *packages::pack(source);
  }
  CodeStore::Options options() const { return {.root = root_ / "functions", .sync = {}}; }
  std::size_t zips() const {
    std::size_t count = 0;
    for (const auto& each : fs::directory_iterator(root_ / "functions")) {
      if (each.path().extension() == ".zip") ++count;
    }
    return count;
  }

  fs::path root_;
};

TEST_F(CodeStoreTest, KeepsZipsAndUnpacksThem) {
  CodeStore store(options());
  const std::string bytes = zip("a = 1\n");
  const auto stored = store.put(bytes);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  const Sha256 digest = sha256(bytes);
  EXPECT_EQ(stored->sha256,
            base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()}));
  EXPECT_EQ(stored->size, bytes.size());
  EXPECT_EQ(*store.zip(stored->sha256), bytes);
  const auto directory = store.directory(stored->sha256);
  ASSERT_TRUE(directory.has_value());
  EXPECT_TRUE(fs::exists(*directory / "index.py"));
  ASSERT_TRUE(store.put(bytes).has_value());
  EXPECT_EQ(zips(), 1u);
}

TEST_F(CodeStoreTest, UnpacksAgainWhatIsMissing) {
  CodeStore store(options());
  const auto stored = store.put(zip("a = 1\n"));
  fs::remove_all(root_ / "functions" / "code");
  const auto directory = store.directory(stored->sha256);
  ASSERT_TRUE(directory.has_value());
  EXPECT_TRUE(fs::exists(*directory / "index.py"));
}

TEST_F(CodeStoreTest, LeavesNothingOfWhatCannotBeUnpacked) {
  CodeStore store(options());
  EXPECT_FALSE(store.put("no zip").has_value());
  EXPECT_EQ(zips(), 0u);
  EXPECT_TRUE(fs::is_empty(root_ / "functions" / "code"));
}

TEST_F(CodeStoreTest, TellsDamage) {
  CodeStore store(options());
  const auto stored = store.put(zip("a = 1\n"));
  for (const auto& each : fs::directory_iterator(root_ / "functions")) {
    if (each.path().extension() == ".zip") std::ofstream(each.path()) << "other bytes";
  }
  fs::remove_all(root_ / "functions" / "code");
  const auto directory = store.directory(stored->sha256);
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error().code, ErrorCode::storage_damaged);
}

TEST_F(CodeStoreTest, ForgetsWhatNobodyUses) {
  CodeStore store(options());
  const auto kept = store.put(zip("a = 1\n"));
  ASSERT_TRUE(store.put(zip("a = 2\n")).has_value());
  std::ofstream(root_ / "functions" / "half-written") << "x";
  store.keep_only({kept->sha256, ""});
  EXPECT_EQ(zips(), 1u);
  EXPECT_FALSE(fs::exists(root_ / "functions" / "half-written"));
  EXPECT_TRUE(store.directory(kept->sha256).has_value());
}

TEST_F(CodeStoreTest, GoesWithAServerThatKeepsNothing) {
  CodeStore::Options passing = options();
  passing.passing = true;
  {
    CodeStore store(passing);
    ASSERT_TRUE(store.put(zip("a = 1\n")).has_value());
  }
  EXPECT_FALSE(fs::exists(passing.root));
}

TEST_F(CodeStoreTest, CodeThatNobodyNeedsIsRemoved) {
  CodeStore store(options());
  std::string sha256;
  {
    const auto stored = store.put(zip("a"));
    ASSERT_TRUE(stored);
    sha256 = stored->sha256;
    // Its function may not be in the catalogue yet.
    store.remove_unless(sha256, [] { return false; });
    EXPECT_EQ(zips(), 1u);
  }
  store.remove_unless(sha256, [] { return true; });
  EXPECT_EQ(zips(), 1u);
  store.remove_unless(sha256, [] { return false; });
  EXPECT_EQ(zips(), 0u);
  EXPECT_FALSE(store.directory(sha256));
}

}  // namespace
}  // namespace redrive::lambda
