#include "sim/faulty_files.h"

#include <gtest/gtest.h>

#include <set>

namespace redrive::sim {
namespace {

std::string crashed(std::uint64_t seed, const std::function<void(FaultyFiles&)>& use) {
  FaultyFiles files;
  use(files);
  SeededIds chance(seed);
  files.crash(chance);
  std::string out;
  const auto names = files.list().value();
  for (const std::string& name : names) out += name + "=" + *files.bytes(name) + ";";
  return out;
}

std::set<std::string> outcomes(const std::function<void(FaultyFiles&)>& use) {
  std::set<std::string> out;
  for (std::uint64_t seed = 0; seed < 200; ++seed) out.insert(crashed(seed, use));
  return out;
}

TEST(FaultyFiles, WhatWasSyncedSurvives) {
  const auto all = outcomes([](FaultyFiles& files) {
    auto file = files.create("a").value();
    ASSERT_TRUE(file->write(0, "kept"));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(files.sync_directory());
  });
  EXPECT_EQ(all, (std::set<std::string>{"a=kept;"}));
}

TEST(FaultyFiles, WhatWasNotSyncedMayGoEitherWay) {
  const auto all = outcomes([](FaultyFiles& files) {
    auto file = files.create("a").value();
    ASSERT_TRUE(file->write(0, "old"));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(files.sync_directory());
    ASSERT_TRUE(file->write(0, "mid"));
    ASSERT_TRUE(file->write(0, "new"));
  });
  EXPECT_EQ(all, (std::set<std::string>{"a=old;", "a=mid;", "a=new;"}));
}

TEST(FaultyFiles, AWriteIsTornBetweenSectors) {
  const auto all = outcomes([](FaultyFiles& files) {
    auto file = files.create("a").value();
    ASSERT_TRUE(file->reserve(1536));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(files.sync_directory());
    ASSERT_TRUE(file->write(0, std::string(1536, 'x')));
  });
  EXPECT_EQ(all.size(), 8u);  // Three sectors, each written or not.
}

TEST(FaultyFiles, NamesSurviveAsAPrefixOrASubset) {
  const auto all = outcomes([](FaultyFiles& files) {
    ASSERT_TRUE(files.create("a"));
    ASSERT_TRUE(files.create("b"));
    ASSERT_TRUE(files.sync_directory());
    ASSERT_TRUE(files.rename("a", "c"));
    ASSERT_TRUE(files.remove("b"));
  });
  EXPECT_EQ(all, (std::set<std::string>{"a=;b=;", "b=;c=;", "a=;", "c=;"}));
}

TEST(FaultyFiles, EqualSeedsGiveEqualCrashes) {
  const auto use = [](FaultyFiles& files) {
    auto file = files.create("a").value();
    for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(file->write(i * 300, std::string(400, 'x')));
  };
  EXPECT_EQ(crashed(5, use), crashed(5, use));
}

TEST(FaultyFiles, HandlesDoNotOutliveACrash) {
  FaultyFiles files;
  auto file = files.create("a").value();
  SeededIds chance(1);
  files.crash(chance);
  EXPECT_FALSE(file->write(0, "x").has_value());
}

TEST(FaultyFiles, FailsAsAsked) {
  FaultyFiles files;
  auto file = files.create("a").value();
  files.fail_sync_after(1);
  EXPECT_TRUE(file->sync().has_value());
  EXPECT_FALSE(file->sync().has_value());
  EXPECT_TRUE(file->sync().has_value());

  files.limit_space(10);
  EXPECT_TRUE(file->write(0, "0123456789").has_value());
  EXPECT_EQ(file->write(5, "0123456789").error().code, ErrorCode::storage_full);
  EXPECT_TRUE(file->write(0, "overwrites").has_value());
  EXPECT_TRUE(files.remove("a").has_value());
  EXPECT_TRUE(files.create("b").value()->reserve(10).has_value());

  files.stop_after(1);
  EXPECT_TRUE(files.sync_directory().has_value());
  EXPECT_FALSE(files.sync_directory().has_value());
  EXPECT_FALSE(files.open("b").has_value());
}

}  // namespace
}  // namespace redrive::sim
