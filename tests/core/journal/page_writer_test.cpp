#include "core/journal/page_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/faulty_files.h"

namespace redrive::journal {
namespace {

class PageWriterTest : public ::testing::Test {
 protected:
  void write(std::string_view text) {
    ASSERT_TRUE(writer_.write(*file_, end_, std::span(&text, 1)).has_value());
    end_ += static_cast<std::uint32_t>(text.size());
    expected_ += text;
  }
  // The bytes written, and zeros to the end of the page.
  void expect_all() {
    std::string whole = expected_;
    whole.resize((whole.size() + kPageBytes - 1) / kPageBytes * kPageBytes, '\0');
    EXPECT_TRUE(files_.bytes("a").value() == whole);
  }

  sim::FaultyFiles files_;
  std::unique_ptr<File> file_ = files_.create("a").value();
  PageWriter writer_;
  std::uint32_t end_ = 0;
  std::string expected_;
};

TEST_F(PageWriterTest, WritesOneBehindTheOther) {
  for (const std::size_t size : {100u, 4096u, 3996u, 4096u, 1u, 300'000u, 7u, 8191u}) {
    write(std::string(size, static_cast<char>('a' + size % 23)));
    expect_all();
  }
}

// After a restart, or when another writer has written before: its bytes are kept.
TEST_F(PageWriterTest, KeepsWhatIsInThePageItBeginsIn) {
  write(std::string(5000, 'a'));
  writer_.forget();
  write("b");
  writer_ = {};
  write(std::string(100, 'c'));
  expect_all();
}

TEST_F(PageWriterTest, AnotherFileHasAnotherBeginning) {
  write(std::string(100, 'a'));
  file_ = files_.create("b").value();
  writer_.forget();
  const std::string_view text = "b";
  ASSERT_TRUE(writer_.write(*file_, 100, std::span(&text, 1)).has_value());
  EXPECT_EQ(files_.bytes("b").value().substr(0, 101), std::string(100, '\0') + "b");
}

}  // namespace
}  // namespace redrive::journal
