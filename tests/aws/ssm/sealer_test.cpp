#include "aws/ssm/sealer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace redrive::ssm {
namespace {

namespace fs = std::filesystem;

class SealerTest : public testing::Test {
 protected:
  SealerTest() {
    std::string pattern = (fs::temp_directory_path() / "sealer-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~SealerTest() override { fs::remove_all(root_); }

  fs::path key_file() const { return root_ / "parameters.key"; }

  fs::path root_;
};

TEST_F(SealerTest, OpensWhatItSealedAlsoAfterARestart) {
  const std::string sealed = *Sealer(key_file()).seal("hunter2", "db");
  EXPECT_EQ(sealed.find("hunter2"), sealed.npos);
  EXPECT_EQ(*Sealer(key_file()).open(sealed, "db"), "hunter2");
}

TEST_F(SealerTest, EqualValuesDoNotLookEqual) {
  Sealer sealer(key_file());
  EXPECT_NE(*sealer.seal("same", "db"), *sealer.seal("same", "db"));
}

TEST_F(SealerTest, OnlyTheServersUserMayReadTheKey) {
  ASSERT_TRUE(Sealer(key_file()).seal("x", "db"));
  struct stat status {};
  ASSERT_EQ(::stat(key_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_size, 32);
}

// Whoever can write to the journal must not be able to show a value under another name.
TEST_F(SealerTest, ASealedValueIsBoundToItsParameter) {
  Sealer sealer(key_file());
  const std::string sealed = *sealer.seal("x", "db");
  EXPECT_EQ(sealer.open(sealed, "other").error().code, ErrorCode::storage_damaged);
}

TEST_F(SealerTest, AnotherKeyOpensNothing) {
  const std::string sealed = *Sealer(key_file()).seal("x", "db");
  Sealer other({});
  ASSERT_TRUE(other.seal("y", "db"));
  EXPECT_EQ(other.open(sealed, "db").error().code, ErrorCode::storage_damaged);
}

// A lost key must not be replaced silently by a new one.
TEST_F(SealerTest, OpeningMakesNoKey) {
  const std::string sealed = *Sealer(key_file()).seal("x", "db");
  fs::remove(key_file());
  EXPECT_FALSE(Sealer(key_file()).open(sealed, "db"));
  EXPECT_FALSE(fs::exists(key_file()));
}

TEST_F(SealerTest, HalfAKeyIsRefused) {
  std::ofstream(key_file()) << "short";
  EXPECT_EQ(Sealer(key_file()).seal("x", "db").error().code, ErrorCode::storage_damaged);
}

TEST_F(SealerTest, GarbageIsRefused) {
  Sealer sealer(key_file());
  ASSERT_TRUE(sealer.seal("x", "db"));
  for (const char* text : {"", "AQ==", "not base64", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"}) {
    EXPECT_FALSE(sealer.open(text, "db")) << text;
  }
}

}  // namespace
}  // namespace redrive::ssm
