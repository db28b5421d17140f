#include "net/wire/scan.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::wire {
namespace {

// Every length and every position: covers blocks of 64, 16 and 8 bytes and the rest.
template <class Stop>
void expect_found_anywhere(char stop) {
  for (std::size_t size = 0; size < 150; ++size) {
    const std::string clean(size, 'x');
    ASSERT_EQ(scan_to<Stop>(clean.data(), clean.data() + size), clean.data() + size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string text = clean;
      text[at] = stop;
      text.back() = stop;  // A later one must not be found first.
      ASSERT_EQ(scan_to<Stop>(text.data(), text.data() + size) - text.data(),
                static_cast<std::ptrdiff_t>(at));
    }
  }
}

TEST(Scan, FindsTheFirstStop) {
  expect_found_anywhere<JsonStringEnds>('"');
  expect_found_anywhere<JsonEscapes>('\x1f');
  expect_found_anywhere<JsonEscapes>('\0');
  expect_found_anywhere<JsonEscapesOrHigh>('\x80');
  expect_found_anywhere<JsonEscapesOrHigh>('\xff');
  expect_found_anywhere<JsonEscapesOrHigh>('\x1f');
  expect_found_anywhere<XmlEscapes>('&');
  expect_found_anywhere<FormEscapes>('+');
}

TEST(Scan, StopsAtNothingElse) {
  for (int c = 0; c < 256; ++c) {
    const std::string text(16, static_cast<char>(c));
    const bool escape = c < 0x20 || c == '"' || c == '\\';
    EXPECT_EQ(scan_to<JsonEscapes>(text.data(), text.data() + 16) == text.data(), escape) << c;
    EXPECT_EQ(JsonEscapes::holds(static_cast<char>(c)), escape) << c;
    const bool care = escape || c >= 0x80;
    EXPECT_EQ(scan_to<JsonEscapesOrHigh>(text.data(), text.data() + 16) == text.data(), care) << c;
    EXPECT_EQ(JsonEscapesOrHigh::holds(static_cast<char>(c)), care) << c;
  }
}

}  // namespace
}  // namespace redrive::wire
