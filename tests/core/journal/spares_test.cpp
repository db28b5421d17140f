#include "core/journal/spares.h"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <set>
#include <thread>

#include "sim/faulty_files.h"

namespace redrive::journal {
namespace {

constexpr std::uint32_t kBytes = 4u << 20;

// Calls a hook before zeros are written.
class AnnouncedFiles final : public Files {
 public:
  explicit AnnouncedFiles(Files& files) : files_(files) {}
  std::function<void()> before_zeros = [] {};

  Result<std::vector<std::string>> list() override { return files_.list(); }
  Result<std::unique_ptr<File>> open(const std::string& name) override {
    return std::make_unique<Announced>(*this, TRY(files_.open(name)));
  }
  Result<std::unique_ptr<File>> create(const std::string& name) override {
    return std::make_unique<Announced>(*this, TRY(files_.create(name)));
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  Result<void> remove(const std::string& name) override { return files_.remove(name); }
  Result<void> sync_directory() override { return files_.sync_directory(); }
  std::string path(const std::string& name) const override { return files_.path(name); }

 private:
  class Announced final : public File {
   public:
    Announced(AnnouncedFiles& files, std::unique_ptr<File> file)
        : files_(files), file_(std::move(file)) {}
    Result<std::size_t> read(std::uint64_t offset, char* out, std::size_t size) override {
      return file_->read(offset, out, size);
    }
    Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      return file_->write(offset, parts);
    }
    Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) override {
      files_.before_zeros();
      return file_->write_zeros(offset, size);
    }
    Result<void> sync() override { return file_->sync(); }
    Result<std::uint64_t> size() override { return file_->size(); }
    Result<void> reserve(std::uint64_t bytes) override { return file_->reserve(bytes); }

   private:
    AnnouncedFiles& files_;
    const std::unique_ptr<File> file_;
  };

  Files& files_;
};

struct SparesTest : testing::Test {
  sim::FaultyFiles disk;
  AnnouncedFiles files{disk};
  Spares spares{files, {.segment_bytes = kBytes, .recycled_segments_max = 0}, {}};

  void prepare(std::uint32_t count) {
    while (spares.count() < count) ASSERT_TRUE(spares.prepare(count).has_value());
  }
  Spares::Taken must_take() {
    auto taken = spares.take();
    EXPECT_TRUE(taken.has_value());
    return std::move(*taken);
  }
};

TEST_F(SparesTest, TheFullestIsTakenAndTheEmptiestIsGivenUp) {
  prepare(3);
  ASSERT_TRUE(*spares.fill_some());
  ASSERT_TRUE(spares.prepare(2).has_value());
  EXPECT_EQ(must_take().filled, 1u << 20);
  EXPECT_EQ(must_take().filled, 0u);
  EXPECT_EQ(spares.count(), 0u);
}

// Data written to it would be overwritten with zeros.
TEST_F(SparesTest, OneThatIsBeingFilledIsNobodyElses) {
  prepare(3);
  std::set<std::string> elsewhere;
  files.before_zeros = [&] {
    elsewhere = {must_take().name};
    ASSERT_TRUE(spares.sacrifice().has_value());
    EXPECT_EQ(spares.count(), 1u);
  };
  ASSERT_TRUE(*spares.fill_some());
  const Spares::Taken filled = must_take();
  EXPECT_EQ(filled.filled, 1u << 20);
  EXPECT_FALSE(elsewhere.contains(filled.name));
}

TEST_F(SparesTest, WhoNeedsTheLastOneWaitsUntilItsZerosAreWritten) {
  prepare(1);
  std::latch filling(1);
  files.before_zeros = [&] { filling.count_down(); };
  std::thread filler([&] { EXPECT_TRUE(spares.fill_some().has_value()); });
  filling.wait();
  EXPECT_EQ(must_take().filled, 1u << 20);
  filler.join();
  EXPECT_EQ(spares.count(), 0u);
}

TEST_F(SparesTest, WhatCouldNotBeSyncedIsNotFilled) {
  prepare(1);
  for (int step = 1; step < 4; ++step) ASSERT_TRUE(*spares.fill_some());
  files.before_zeros = [&] { disk.fail_sync_after(0); };
  EXPECT_FALSE(spares.fill_some().has_value());
  files.before_zeros = [] {};
  EXPECT_EQ(must_take().filled, 3u << 20);
}

}  // namespace
}  // namespace redrive::journal
