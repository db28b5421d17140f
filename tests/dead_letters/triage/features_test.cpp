#include "dead_letters/triage/features.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace redrive::triage {
namespace {

void add(FeatureCounts& counts, std::string_view body, std::vector<AttributeView> attributes = {}) {
  counts.add({.body = body, .attributes = attributes});
}

const JsonField* field(const FeatureCounts& counts, std::vector<std::string> path) {
  std::uint16_t at = 0;
  for (std::string& step : path) {
    const bool in_array = step.starts_with("[]");
    const auto next = counts.json().find(at, in_array ? step.substr(2) : step, in_array);
    if (!next) return nullptr;
    at = *next;
  }
  return &counts.json().all()[at];
}

std::uint64_t of_type(const JsonField& field, JsonType type) {
  return field.types[static_cast<std::size_t>(type)];
}

TEST(FeatureCounts, CountsWhatMessagesHave) {
  FeatureCounts counts;
  add(counts, R"({"qty":1,"store":{"id":"s1"}})", {{"store_id", "Number", "3"}});
  add(counts, R"({"qty":"1","store":{"id":"s2"}})", {{"store_id", "String", "3"}});
  add(counts, R"({"qty":1})");
  add(counts, "hello");
  add(counts, "[1]");
  add(counts, "");
  counts.add({.body = "17", .has_group = true});

  EXPECT_EQ(counts.total(), 7u);
  EXPECT_EQ(counts.with_group(), 1u);
  EXPECT_EQ(counts.of_kind(BodyKind::json_object), 3u);
  EXPECT_EQ(counts.of_kind(BodyKind::json_array), 1u);
  EXPECT_EQ(counts.of_kind(BodyKind::json_other), 1u);
  EXPECT_EQ(counts.of_kind(BodyKind::text), 1u);
  EXPECT_EQ(counts.of_kind(BodyKind::empty), 1u);
  EXPECT_EQ(counts.sizes()[0], 1u);
  EXPECT_EQ(counts.sizes()[2], 2u);  // [1] and 17.
  ASSERT_NE(counts.find_attribute("store_id"), nullptr);
  EXPECT_EQ(counts.find_attribute("store_id")->with, 2u);
  EXPECT_EQ(counts.find_attribute("store_id")->types.count_of("Number"), 1u);
  EXPECT_EQ(counts.find_attribute("store_id")->values.count_of("3"), 2u);
  ASSERT_NE(field(counts, {"qty"}), nullptr);
  EXPECT_EQ(field(counts, {"qty"})->with, 3u);
  EXPECT_EQ(of_type(*field(counts, {"qty"}), JsonType::number), 2u);
  EXPECT_EQ(of_type(*field(counts, {"qty"}), JsonType::string), 1u);
  EXPECT_EQ(field(counts, {"qty"})->values.count_of("1"), 2u);
  EXPECT_EQ(field(counts, {"qty"})->values.count_of("\"1"), 1u);
  EXPECT_EQ(field(counts, {"store", "id"})->with, 2u);
}

TEST(FeatureCounts, CountsAMessageOnceWhateverItRepeats) {
  FeatureCounts counts;
  add(counts,
      R"({"items":[{"sku":"a"},{"sku":"b"},{"sku":3}],"a":1,"a":2})",
      {{"n", "String", "x"}, {"n", "String", "y"}});
  ASSERT_NE(field(counts, {"items", "[]sku"}), nullptr);
  EXPECT_EQ(field(counts, {"items", "[]sku"})->with, 1u);
  EXPECT_EQ(of_type(*field(counts, {"items", "[]sku"}), JsonType::string), 1u);
  EXPECT_EQ(of_type(*field(counts, {"items", "[]sku"}), JsonType::number), 1u);
  EXPECT_EQ(field(counts, {"a"})->with, 1u);
  EXPECT_EQ(field(counts, {"a"})->values.count_of("1"), 1u);
  EXPECT_EQ(field(counts, {"a"})->values.count_of("2"), 0u);
  EXPECT_EQ(counts.find_attribute("n")->with, 1u);
}

TEST(FeatureCounts, LooksThreeKeysDeepAndNotIntoLargeBodies) {
  FeatureCounts counts;
  add(counts, R"({"a":{"b":{"c":{"d":1}}}})");
  ASSERT_NE(field(counts, {"a", "b", "c"}), nullptr);
  EXPECT_EQ(of_type(*field(counts, {"a", "b", "c"}), JsonType::object), 1u);
  EXPECT_EQ(field(counts, {"a", "b", "c", "d"}), nullptr);
  add(counts, R"({"x":")" + std::string(65 * 1024, 'x') + R"("})");
  EXPECT_EQ(counts.of_kind(BodyKind::large), 1u);
  EXPECT_EQ(counts.looked_into(), 1u);
  EXPECT_EQ(field(counts, {"x"}), nullptr);
}

TEST(FeatureCounts, KnowsManyValuesFromFew) {
  FeatureCounts counts;
  for (int i = 0; i < 40; ++i) {
    const std::string body = fmt::format(R"({{"id":{},"region":"{}","long":"{}"}})",
                                         i,
                                         i % 2 == 0 ? "eu" : "us",
                                         std::string(100, 'x'));
    const std::string id = fmt::format("v{}", i);
    add(counts, body, {{"id", "String", id}, {"bin", "Binary", "x"}});
  }
  EXPECT_TRUE(field(counts, {"id"})->values.many());
  EXPECT_TRUE(field(counts, {"long"})->values.many());
  EXPECT_EQ(field(counts, {"region"})->values.count_of("\"eu"), 20u);
  EXPECT_TRUE(counts.find_attribute("id")->values.many());
  EXPECT_TRUE(counts.find_attribute("bin")->values.many());
}

// Statistics are shown to people who may not see the messages.
TEST(FeatureCounts, KeepsNoValuesOfSecrets) {
  FeatureCounts counts;
  add(counts, R"({"password":"hunter2","n":"x"})", {{"api_key", "String", "hunter2"}});
  EXPECT_EQ(counts.encode().find("hunter2"), std::string::npos);
  EXPECT_EQ(field(counts, {"password"})->with, 1u);
}

FeatureCounts random_counts(std::uint32_t seed, int messages, int keys) {
  std::mt19937 random(seed);
  FeatureCounts counts;
  for (int i = 0; i < messages; ++i) {
    std::string body = "{";
    for (int k = 0; k < 6; ++k) {
      body += fmt::format(R"("k{}":{{"v":{},"t":"{}","l":[{{"x{}":null}}]}},)",
                          random() % static_cast<unsigned>(keys),
                          random() % 50,
                          random() % 3,
                          random() % 5);
    }
    body += R"("end":true})";
    const std::string name = fmt::format("a{}", random() % static_cast<unsigned>(keys));
    const std::string value = fmt::format("{}", random() % 9);
    const AttributeView attributes[] = {{name, "String", value}, {"fixed", "Number.int", value}};
    counts.add({.body = random() % 9 == 0 ? "text" : body,
                .attributes = attributes,
                .has_group = random() % 2 == 0});
  }
  return counts;
}

TEST(FeatureCounts, ReadsBackWhatItWrote) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const FeatureCounts counts = random_counts(seed, 200, seed % 2 == 0 ? 5 : 500);
    const auto back = FeatureCounts::decode(counts.encode());
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, counts);
    EXPECT_EQ(back->encode(), counts.encode());
  }
  EXPECT_EQ(*FeatureCounts::decode(FeatureCounts().encode()), FeatureCounts());
}

// Written by versions without a sample: two messages, {"a":1} and {"a":"x"} with attribute n.
TEST(FeatureCounts, ReadsVersionOne) {
  const std::string bytes(
      "\x01\x02\x00"                      // Version, total, with a group.
      "\x00\x02\x00\x00\x00\x00\x00\x00"  // Kinds: two objects.
      "\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"  // Sizes: 7 and 9 bytes.
      "\x00\x01\x01n\x01\x02\x06String\x01\x02\x01v\x01"  // Attributes.
      "\x02\x02\x00\x00\x00\x00\x00"                      // The body itself: two objects.
      "\x01\x00\x00\x01"
      "a\x02\x00\x00\x01\x01\x00\x00\x03\x01"
      "1\x01\x02\"x\x01"  // The key a, its types and values.
      "\x00",             // No field is full.
      81);
  const auto counts = FeatureCounts::decode(bytes);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->total(), 2u);
  EXPECT_EQ(field(*counts, {"a"})->values.count_of("\"x"), 1u);
  EXPECT_EQ(counts->sample().rows().size(), 0u);
  FeatureCounts more = *counts;
  add(more, R"({"a":2})");
  EXPECT_EQ(more.sample().rows().size(), 1u);
  EXPECT_EQ(*FeatureCounts::decode(more.encode()), more);
}

// Decoded counts continue as if nothing had happened.
TEST(FeatureCounts, GoesOnAfterReadingBack) {
  FeatureCounts counts = random_counts(1, 50, 5);
  FeatureCounts back = *FeatureCounts::decode(counts.encode());
  add(counts, R"({"k1":{"v":3},"new":1})", {{"fixed", "String", "x"}});
  add(back, R"({"k1":{"v":3},"new":1})", {{"fixed", "String", "x"}});
  EXPECT_EQ(back, counts);
}

TEST(FeatureCounts, RefusesBytesThatItDidNotWrite) {
  const std::string bytes = random_counts(3, 100, 9).encode();
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_FALSE(FeatureCounts::decode(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(FeatureCounts::decode(bytes + "x").has_value());
  EXPECT_FALSE(FeatureCounts::decode("\x03" + bytes.substr(1)).has_value());
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 1 + i % 3; ++k) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    // Some damage changes counts; none makes them unusable.
    auto read = FeatureCounts::decode(damaged);
    if (!read) continue;
    EXPECT_LE(read->memory_bytes(), FeatureCounts::kMemoryBytesMax);
    FeatureCounts sum = *read;
    sum.merge(*read);
    EXPECT_TRUE(FeatureCounts::decode(sum.encode()).has_value());
  }
}

TEST(FeatureCounts, MergingIsCountingTogether) {
  FeatureCounts together;
  FeatureCounts parts[2];
  for (int i = 0; i < 100; ++i) {
    const std::string body =
        fmt::format(R"({{"n":{},"o":{{"k{}":"x"}},"l":[{{"y":1}}]}})", i % 7, i % 3);
    const std::string value = fmt::format("{}", i % 4);
    add(together, body, {{"a", "String", value}});
    add(parts[i / 50], body, {{"a", "String", value}});
  }
  parts[0].merge(parts[1]);
  EXPECT_EQ(parts[0], together);
  FeatureCounts none;
  none.merge(together);
  EXPECT_EQ(none, together);
  FeatureCounts twice = together;
  twice.merge(twice);
  EXPECT_EQ(twice.total(), 200u);
  EXPECT_EQ(field(twice, {"n"})->with, 200u);
}

// A count in the sum is either the exact sum or absent.
TEST(FeatureCounts, MergingNeverClaimsWhatOneSideLeftOut) {
  FeatureCounts full;
  for (std::size_t i = 0; i < 2 * JsonFields::kFieldsMax; ++i) {
    const std::string name = fmt::format("k{}", i);
    add(full, fmt::format(R"({{"{}":1}})", name), {{name, "String", "x"}});
  }
  add(full, R"({"late":1})", {{"late", "String", "x"}});  // There was no room for it.
  FeatureCounts other;
  add(other, R"({"late":1,"k1":1})", {{"late", "String", "x"}, {"k1", "String", "x"}});

  for (const bool full_first : {true, false}) {
    FeatureCounts sum = full_first ? full : other;
    sum.merge(full_first ? other : full);
    EXPECT_EQ(field(sum, {"late"}), nullptr);
    EXPECT_EQ(sum.find_attribute("late"), nullptr);
    ASSERT_NE(field(sum, {"k1"}), nullptr);
    EXPECT_EQ(field(sum, {"k1"})->with, 2u);
    EXPECT_EQ(sum.find_attribute("k1")->with, 2u);
    EXPECT_TRUE(sum.json().all()[0].children_full);
    EXPECT_TRUE(sum.attributes_full());
  }
}

TEST(FeatureCounts, StaysWithinItsMemory) {
  FeatureCounts counts;
  std::mt19937 random(1);
  const auto word = [&](std::size_t size) {
    std::string out;
    while (out.size() < size) out += static_cast<char>('a' + random() % 26);
    return out;
  };
  for (int i = 0; i < 2000; ++i) {
    std::string body = "{";
    for (int k = 0; k < 8; ++k) {
      // Few enough names that all are kept, with values of the maximum number and length.
      body += fmt::format(R"("{}{}":{{"{}{}":"{}{}"}},)",
                          std::string(60, 'k'),
                          random() % 20,
                          std::string(60, 'm'),
                          random() % 20,
                          std::string(58, 'v'),
                          random() % 31);
    }
    body += R"("z":1})";
    const std::string name = i % 2 == 0 ? word(256) : std::string(250, 'n') + word(1);
    const std::string value = word(1) + std::string(60, 'w');
    const AttributeView attributes[] = {{name, value, value}};
    counts.add({.body = body, .attributes = attributes});
    if (i % 50 != 0) continue;
    ASSERT_LE(counts.memory_bytes(), FeatureCounts::kMemoryBytesMax);
  }
  EXPECT_GT(counts.json().all().size(), 100u);  // It was filled.
  FeatureCounts sum = counts;
  sum.merge(random_counts(5, 500, 500));
  EXPECT_LE(sum.memory_bytes(), FeatureCounts::kMemoryBytesMax);
}

TEST(FeatureCounts, BearsAnyBody) {
  FeatureCounts counts;
  const std::string deep(60'000, '[');
  const std::string keys = "{" + std::string(30'000, '"') + "}";
  for (const std::string& body :
       {deep, keys, std::string("{\"a\":"), std::string("\xff\xfe"), std::string(1, '\0')}) {
    add(counts, body);
  }
  EXPECT_EQ(counts.total(), 5u);
  EXPECT_EQ(counts.of_kind(BodyKind::text), 5u);
}

}  // namespace
}  // namespace redrive::triage
