#include "bench/stamped.h"

#include <gtest/gtest.h>

namespace redrive::bench {
namespace {

TEST(Stamped, WritesTheTimeIntoEveryBody) {
  const Stamped request("a" + body_text(30) + "b" + body_text(kStampDigits) + "c");
  std::string out = "before ";
  request.append_to(out, Nanos(123456789));
  EXPECT_EQ(out, "before a00000000000123456789the quick b00000000000123456789c");
  EXPECT_EQ(stamp_of(out.substr(8)), Nanos(123456789));
}

TEST(Stamped, IsWrittenAnewEachTime) {
  const Stamped request(body_text(kStampDigits));
  std::string out;
  request.append_to(out, Nanos(1));
  request.append_to(out, Nanos(2));
  EXPECT_EQ(out, "0000000000000000000100000000000000000002");
}

TEST(StampOf, IsNothingInForeignBodies) {
  EXPECT_EQ(stamp_of(""), std::nullopt);
  EXPECT_EQ(stamp_of("0000000000000000001"), std::nullopt);
  EXPECT_EQ(stamp_of("an order that nobody stamped"), std::nullopt);
}

}  // namespace
}  // namespace redrive::bench
