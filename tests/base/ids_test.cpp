#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace redrive {
namespace {

constexpr std::string_view kText = "00112233-4455-6677-8899-aabbccddeeff";

Uuid some_uuid() {
  Uuid id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 17);
  return id;
}

TEST(Uuid, IsWrittenInNetworkOrder) {
  EXPECT_EQ(some_uuid().text(), kText);
  EXPECT_EQ(Uuid{}.text(), "00000000-0000-0000-0000-000000000000");
}

TEST(Uuid, IsReadInEitherCase) {
  EXPECT_EQ(Uuid::parse(kText), some_uuid());
  EXPECT_EQ(Uuid::parse("00112233-4455-6677-8899-AABBCCDDEEFF"), some_uuid());
}

TEST(Uuid, RefusesAnyOtherForm) {
  for (const char* text : {"",
                           "00112233445566778899aabbccddeeff",
                           "00112233-4455-6677-8899-aabbccddeef",
                           "00112233-4455-6677-8899-aabbccddeeff0",
                           "0011223-34455-6677-8899-aabbccddeeff",
                           "{0112233-4455-6677-8899-aabbccddeef}",
                           "00112233_4455_6677_8899_aabbccddeeff"}) {
    EXPECT_EQ(Uuid::parse(text), std::nullopt) << text;
  }
  for (std::size_t at = 0; at < kText.size(); ++at) {
    std::string text(kText);
    text[at] = 'g';
    EXPECT_EQ(Uuid::parse(text), std::nullopt) << text;
  }
}

TEST(Ids, UuidsSayThatTheyAreRandom) {
  SeededIds ids(1);
  for (int i = 0; i < 100; ++i) {
    const Uuid id = ids.uuid();
    EXPECT_EQ(id.bytes[6] >> 4, 4) << id.text();  // Version 4,
    EXPECT_EQ(id.bytes[8] >> 6, 2) << id.text();  // of RFC 4122's variant.
    EXPECT_EQ(Uuid::parse(id.text()), id);
  }
}

TEST(Ids, TheSameSeedGivesTheSameIds) {
  SeededIds one(42);
  SeededIds same(42);
  SeededIds other(43);
  std::set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    const Uuid id = one.uuid();
    EXPECT_EQ(id, same.uuid());
    EXPECT_NE(id, other.uuid());
    EXPECT_TRUE(seen.insert(id).second);
  }
  EXPECT_EQ(one.secret(), same.secret());
}

// xoshiro256++ with a state filled by splitmix64 from zero: a change would affect every seed.
TEST(Ids, SeedsMeanTheSameForEver) {
  SeededIds ids(0);
  EXPECT_EQ(ids.bits(), 0x53175d61490b23dfu);
}

TEST(Ids, RealOnesDiffer) {
  RandomIds one;
  RandomIds other;
  EXPECT_NE(one.bits(), other.bits());
  EXPECT_NE(one.uuid(), other.uuid());
  EXPECT_NE(one.secret(), one.secret());
}

}  // namespace
}  // namespace redrive
