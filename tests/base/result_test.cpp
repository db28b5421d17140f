#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace redrive {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid_parameter_value, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int halved = TRY(half(number));
  return TRY(half(halved));
}

Result<void> must_be_even(int number, int& reached) {
  RETURN_IF_ERROR(half(number));
  ++reached;
  return {};
}

TEST(Result, TryYieldsTheValueOrPassesTheErrorOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error(), (Error{ErrorCode::invalid_parameter_value, "odd"}));
  EXPECT_EQ(quarter(3).error().message, "odd");
}

TEST(Result, CheckStopsAtAnError) {
  int reached = 0;
  EXPECT_TRUE(must_be_even(2, reached).has_value());
  EXPECT_FALSE(must_be_even(3, reached).has_value());
  EXPECT_EQ(reached, 1);
}

Result<std::unique_ptr<int>> boxed(int number) {
  return std::make_unique<int>(number);
}

Result<int> unboxed(int number) {
  const std::unique_ptr<int> box = TRY(boxed(number));
  return *box;
}

TEST(Result, TryMovesWhatCannotBeCopied) {
  EXPECT_EQ(unboxed(7).value(), 7);
}

}  // namespace
}  // namespace redrive
