#include "dead_letters/triage/rank.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "dead_letters/triage/significance.h"

namespace redrive::triage {
namespace {

using testing::IsEmpty;

struct Attribute {
  std::string name;
  std::string type;
  std::string value;
};

struct Sample {
  std::string body;
  std::vector<Attribute> attributes;
};

void add(FeatureCounts& counts, const Sample& sample) {
  std::vector<AttributeView> views;
  for (const Attribute& a : sample.attributes) views.push_back({a.name, a.type, a.value});
  counts.add({.body = sample.body, .attributes = views});
}

// Orders of a few stores, with irrelevant ids, times and names.
class Shop {
 public:
  explicit Shop(std::uint32_t seed) : random_(seed) {}

  unsigned any(unsigned below) { return static_cast<unsigned>(random_() % below); }

  Sample order(bool store_id = true, bool qty_is_string = false) {
    const unsigned qty = 1 + any(9);
    Sample sample{.body = fmt::format(
                      R"({{"id":"{:08x}","at":{},"dob":"19{:02}-10-17","gender":"{}","consent":{},)"
                      R"("order":{{"sku":"s{}","qty":{}{}{},"gift":{}}},"region":"{}"}})",
                      random_(),
                      1'612'637'000 + any(100'000),
                      any(100),
                      any(2) == 0 ? "F" : "M",
                      any(2) == 0,
                      any(12),
                      qty_is_string ? "\"" : "",
                      qty,
                      qty_is_string ? "\"" : "",
                      any(3) == 0,
                      any(3) == 0 ? "us" : "eu")};
    sample.attributes = {{"project", "String", "Reliable Queues"},
                         {"ts", "Number", fmt::format("{}", 1'612'637'000 + any(100'000))}};
    if (any(2) == 0)
      sample.attributes.push_back({"trace", "String", fmt::format("{:x}", random_())});
    if (store_id) {
      sample.attributes.push_back({"store_id", "Number", fmt::format("{}", 1 + any(5))});
    }
    return sample;
  }

 private:
  std::mt19937 random_;
};

FeatureCounts counts_of(int messages, const std::function<Sample()>& make) {
  auto counts = FeatureCounts::with_names();
  for (int i = 0; i < messages; ++i) add(counts, make());
  return counts;
}

std::vector<std::string> sentences(const std::vector<Distinction>& found) {
  std::vector<std::string> out;
  for (const Distinction& one : found) out.push_back(one.sentence);
  return out;
}

TEST(Rank, FindsTheMissingStoreId) {
  Shop shop(1);
  const FeatureCounts dead = counts_of(24, [&] { return shop.order(false); });
  const FeatureCounts processed = counts_of(67, [&] { return shop.order(); });
  const auto found = rank(dead, processed, 5);
  EXPECT_THAT(sentences(found),
              testing::ElementsAre("24 of 24 lack attribute store_id; 0 of 67 processed do"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, DistinctionKind::attribute_missing);
  EXPECT_EQ(found[0].feature, "store_id");
  EXPECT_EQ(found[0].filter, "attribute.store_id missing");
  EXPECT_GT(found[0].score, 0.9);
}

TEST(Rank, FindsTheCauseAmongNoiseWithFewAndWithMany) {
  for (const int messages : {5, 1000}) {
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(fmt::format("{} dead, seed {}", messages, seed));
      Shop shop(seed);
      const FeatureCounts processed = counts_of(80, [&] { return shop.order(); });
      const FeatureCounts no_store = counts_of(messages, [&] { return shop.order(false); });
      const FeatureCounts wrong_type = counts_of(messages, [&] { return shop.order(true, true); });

      const auto missing = rank(no_store, processed, 5);
      ASSERT_FALSE(missing.empty());
      EXPECT_EQ(missing[0].sentence,
                fmt::format("{0} of {0} lack attribute store_id; 0 of 80 processed do",
                            messages == 1000 ? "1,000" : "5"));
      const auto typed = rank(wrong_type, processed, 5);
      ASSERT_FALSE(typed.empty());
      EXPECT_EQ(typed[0].sentence,
                fmt::format("{0} of {0} have order.qty as string; 0 of 80 processed do: number",
                            messages == 1000 ? "1,000" : "5"));
      EXPECT_EQ(typed[0].filter, "body.$.order.qty is string");
    }
  }
}

TEST(Rank, SaysNothingWhenTheTwoLookAlike) {
  int said = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Shop shop(seed);
    const int messages = seed % 2 == 0 ? 5 : 200;
    const FeatureCounts dead = counts_of(messages, [&] { return shop.order(shop.any(2) == 0); });
    const FeatureCounts processed = counts_of(300, [&] { return shop.order(shop.any(2) == 0); });
    if (!rank(dead, processed, 5).empty()) ++said;
  }
  EXPECT_LE(said, 3);
}

TEST(Rank, HasNothingToSayOfTooFew) {
  Shop shop(1);
  const FeatureCounts one = counts_of(1, [&] { return shop.order(false); });
  const FeatureCounts many = counts_of(100, [&] { return shop.order(); });
  EXPECT_THAT(rank(one, many, 5), IsEmpty());
  EXPECT_THAT(rank(many, FeatureCounts(), 5), IsEmpty());
  EXPECT_THAT(rank(FeatureCounts(), many, 5), IsEmpty());
  EXPECT_THAT(rank(FeatureCounts(), FeatureCounts(), 5), IsEmpty());
  const FeatureCounts bad = counts_of(50, [&] { return shop.order(false); });
  EXPECT_THAT(rank(bad, many, 0), IsEmpty());
}

TEST(Rank, NamesOneCauseForWhatFollowsFromIt) {
  const auto full = [] { return Sample{R"({"a":{"b":{"c":1},"d":2},"e":3})"}; };
  const FeatureCounts processed = counts_of(80, full);
  const struct {
    const char* name;
    Sample dead;
    FeatureCounts processed;
    const char* sentence;
    const char* filter;
  } cases[] = {
      {"a key and all below it",
       {R"({"e":3})"},
       processed,
       "12 of 12 lack key a; 0 of 80 processed do",
       "body.$.a missing"},
      {"an object that became a string",
       {R"({"a":"{}","e":3})"},
       processed,
       "12 of 12 have a as string; 0 of 80 processed do: object",
       "body.$.a is string"},
      {"not JSON, so no key at all",
       {"hello"},
       processed,
       "12 of 12 have a body that is not JSON; 0 of 80 processed do",
       "body.$ missing"},
      {"a key that only the dead have",
       {R"({"a":{"b":{"c":1},"d":2},"e":3,"new":{"x":1}})"},
       processed,
       "12 of 12 have key new; 0 of 80 processed do",
       "body.$.new present"},
      {"a value",
       {R"({"a":{"b":{"c":9},"d":2},"e":3})"},
       processed,
       "12 of 12 have a.b.c = 9; 0 of 80 processed do",
       "body.$.a.b.c == 9"},
      {"a value with quotes in it",
       {R"({"r":"x\"y z"})"},
       counts_of(80, [] { return Sample{R"({"r":"ok"})"}; }),
       "12 of 12 have r = x\"y z; 0 of 80 processed do",
       R"(body.$.r == "x\"y z")"},
      {"an attribute's type",
       {"{}", {{"n", "String", "1"}}},
       counts_of(80,
                 [] {
                   return Sample{"{}", {{"n", "Number", "1"}}};
                 }),
       "12 of 12 have attribute n as String; 0 of 80 processed do",
       "attribute.n is \"String\""},
      {"an attribute's value",
       {"{}", {{"region", "String", "eu"}}},
       counts_of(80,
                 [] {
                   return Sample{"{}", {{"region", "String", "us"}}};
                 }),
       "12 of 12 have attribute region = eu; 0 of 80 processed do",
       "attribute.region == \"eu\""},
      {"size",
       {std::string(70'000, 'x')},
       counts_of(80, [] { return Sample{"short"}; }),
       "12 of 12 are at least 64 KiB; 0 of 80 processed are",
       "size >= 65536"},
      {"items of arrays",
       {R"({"l":[{"x":1}]})"},
       counts_of(80, [] { return Sample{R"({"l":[{"x":1,"odd key":1}]})"}; }),
       "12 of 12 lack key l[].odd key; 0 of 80 processed do",
       "body.$.l[*][\"odd key\"] missing"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const FeatureCounts dead = counts_of(12, [&] { return one.dead; });
    const auto found = rank(dead, one.processed, 9);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].sentence, one.sentence);
    EXPECT_EQ(found[0].filter, one.filter);
    EXPECT_EQ(found.size(), 1u) << testing::PrintToString(sentences(found));
  }
}

TEST(Rank, PutsTheMoreTellingFirst) {
  int i = 0;
  const FeatureCounts dead = counts_of(100, [&] {
    ++i;
    return Sample{
        fmt::format(R"({{"region":"{}"}})", i % 10 == 0 ? "us" : "eu"),
        i % 2 == 0 ? std::vector<Attribute>{} : std::vector<Attribute>{{"s", "String", "1"}}};
  });
  const FeatureCounts processed = counts_of(100, [&] {
    ++i;
    return Sample{fmt::format(R"({{"region":"{}"}})", i % 10 == 0 ? "eu" : "us"),
                  {{"s", "String", "1"}}};
  });
  EXPECT_THAT(sentences(rank(dead, processed, 5)),
              testing::ElementsAre("90 of 100 have region = eu; 10 of 100 processed do",
                                   "50 of 100 lack attribute s; 0 of 100 processed do"));
  EXPECT_EQ(rank(dead, processed, 1).size(), 1u);
}

// A name left out of the processed counts is not a missing name.
TEST(Rank, DoesNotTakeWhatWasLeftOutForMissing) {
  FeatureCounts processed;
  for (int i = 0; i < 400; ++i) {
    const std::string name = fmt::format("k{}", i);
    add(processed,
        {fmt::format(R"({{"{}":1,"late":1}})", i < 300 ? name : "k1"), {{name, "String", "x"}}});
    if (i > 300) add(processed, {R"({"late2":1})", {{"late2", "String", "x"}}});
  }
  FeatureCounts dead;  // Without names: only counts are compared.
  for (int i = 0; i < 50; ++i) {
    add(dead, {R"({"late":1,"late2":1})", {{"late2", "String", "x"}}});
  }
  for (const Distinction& one : rank(dead, processed, 50)) {
    EXPECT_THAT(one.sentence, testing::Not(testing::HasSubstr("late2")));
  }
}

TEST(ChanceOf, IsFishersExactTest) {
  const struct {
    Contrast contrast;
    double chance;
  } cases[] = {
      {{5, 5, 0, 67}, 1.0 / 13'991'544},  // One in "72 choose 5".
      {{3, 4, 1, 4}, 17.0 / 70},          // The lady tasting tea.
      {{4, 4, 0, 4}, 1.0 / 70},
      {{1, 2, 1, 2}, 1},
      {{0, 5, 5, 5}, 1},
      {{0, 0, 0, 0}, 1},
  };
  for (const auto& one : cases) EXPECT_NEAR(chance_of(one.contrast), one.chance, 1e-9);
  EXPECT_LT(chance_of({600'000, 1'000'000, 500'000, 1'000'000}), 1e-100);
}

}  // namespace
}  // namespace redrive::triage
