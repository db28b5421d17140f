// Findings of rank() from samples of whole messages.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "dead_letters/triage/filter.h"
#include "dead_letters/triage/rank.h"

namespace redrive::triage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Timestamp kNoon{1'790'000'000'000 / 86'400'000 * 86'400'000 + 12 * 3'600'000};

struct Message {
  std::string body;
  std::vector<std::pair<std::string, std::string>> numbers;  // Attributes of type Number.
  std::string consumer;
  std::string host;
  std::string version;
  Duration sent_after{};  // Relative to noon.
  std::optional<Duration> age;
};

FeatureCounts count_messages(int messages, const std::function<Message(int)>& make) {
  auto counts = FeatureCounts::with_names();
  for (int i = 0; i < messages; ++i) {
    const Message message = make(i);
    std::vector<AttributeView> attributes;
    for (const auto& [name, value] : message.numbers) attributes.push_back({name, "Number", value});
    MessageContext context{.consumer = message.consumer,
                           .host = message.host,
                           .code_version = message.version,
                           .sent = kNoon + message.sent_after,
                           .first_attempt = {}};
    if (message.age) context.first_attempt = context.sent + *message.age;
    counts.add({.body = message.body, .attributes = attributes, .context = context});
  }
  return counts;
}

std::vector<std::string> sentences_of(const std::vector<Distinction>& found) {
  std::vector<std::string> out;
  for (const Distinction& one : found) out.push_back(one.sentence);
  return out;
}

std::mt19937& random_numbers() {
  static std::mt19937 random(7);
  return random;
}
int any(int below) {
  return static_cast<int>(random_numbers()() % static_cast<unsigned>(below));
}

struct Case {
  const char* name;
  std::function<Message(int)> dead;
  std::function<Message(int)> processed;
  const char* sentence;
  const char* filter;
  DistinctionKind kind;
};

const Case kCases[] = {
    {"a range of numbers",
     [](int) { return Message{fmt::format(R"({{"amount":{}}})", 1000 + any(9000))}; },
     [](int) { return Message{fmt::format(R"({{"amount":{}}})", any(990))}; },
     "25 of 25 have amount >= 1000; 0 of 200 processed do",
     "body.$.amount >= 1000",
     DistinctionKind::key_range},
    {"numbers below a limit",
     [](int) { return Message{fmt::format(R"({{"total":-{}.5}})", any(900))}; },
     [](int) { return Message{fmt::format(R"({{"total":{}.25}})", 1 + any(900))}; },
     "25 of 25 have total < 0; 0 of 200 processed do",
     "body.$.total < 0",
     DistinctionKind::key_range},
    {"a range of an attribute",
     [](int) {
       return Message{"{}", {{"weight", fmt::format("{}", 50 + any(1000))}}};
     },
     [](int) {
       return Message{"{}", {{"weight", fmt::format("{}", any(4500) / 100.0)}}};
     },
     "25 of 25 have attribute weight >= 50; 0 of 200 processed do",
     "attribute.weight >= 50",
     DistinctionKind::attribute_range},
    {"a long list",
     [](int) {
       std::string items = "1";
       for (int i = 0; i < 10 + any(40); ++i) items += ",1";
       return Message{R"({"lines":[)" + items + "]}"};
     },
     [](int) {
       std::string items = "1";
       for (int i = 0; i < any(8); ++i) items += ",1";
       return Message{R"({"lines":[)" + items + "]}"};
     },
     "25 of 25 have at least 10 items in lines; 0 of 200 processed do",
     "body.$.lines[9] present",
     DistinctionKind::key_length},
    {"an empty list",
     [](int) { return Message{R"({"lines":[]})"}; },
     [](int i) { return Message{i % 2 == 0 ? R"({"lines":[7]})" : R"({"lines":[7,8]})"}; },
     "25 of 25 have no items in lines; 0 of 200 processed do",
     "body.$.lines is array and body.$.lines[0] missing",
     DistinctionKind::key_length},
    {"a text that is no date",
     [](int i) { return Message{fmt::format(R"({{"born":"3{}{}"}})", i % 9, "1 May 1980")}; },
     [](int) {
       return Message{fmt::format(R"({{"born":"19{:02}-0{}-1{}"}})", any(100), 1 + any(9), any(9))};
     },
     "25 of 25 have born that does not look like a date; 0 of 200 processed do",
     "",
     DistinctionKind::key_pattern},
    {"a name beyond ASCII",
     [](int i) { return Message{fmt::format(R"({{"name":"Zoë{}"}})", i)}; },
     [](int i) { return Message{fmt::format(R"({{"name":"Zoe{}"}})", i)}; },
     "25 of 25 have name that has characters beyond ASCII; 0 of 200 processed do",
     "",
     DistinctionKind::key_pattern},
    {"a text that is too long",
     [](int i) { return Message{fmt::format(R"({{"note":"{}{}"}})", std::string(70, 'x'), i)}; },
     [](int i) { return Message{fmt::format(R"({{"note":"{}{}"}})", std::string(30, 'x'), i)}; },
     "25 of 25 have note of at least 40 characters; 0 of 200 processed do",
     "",
     DistinctionKind::key_pattern},
    {"one tenant among very many",
     [](int) { return Message{R"({"tenant":"t-4711"})"}; },
     [](int) { return Message{fmt::format(R"({{"tenant":"t-{}"}})", any(100'000))}; },
     "25 of 25 have tenant = t-4711; 0 of 200 processed do",
     R"(body.$.tenant == "t-4711")",
     DistinctionKind::key_value},
    {"one SKU in lists of very many",
     [](int) {
       return Message{fmt::format(R"({{"items":[{{"sku":"s{}"}},{{"sku":"s-bad"}}]}})", any(9999))};
     },
     [](int) {
       return Message{
           fmt::format(R"({{"items":[{{"sku":"s{}"}},{{"sku":"s{}"}}]}})", any(9999), any(9999))};
     },
     "25 of 25 have items[].sku = s-bad; 0 of 200 processed do",
     R"(body.$.items[*].sku == "s-bad")",
     DistinctionKind::key_value},
    {"a host",
     [](int) { return Message{.body = "{}", .consumer = "shop", .host = "10.0.0.7"}; },
     [](int i) {
       return Message{.body = "{}", .consumer = "shop", .host = i % 2 ? "10.0.0.5" : "10.0.0.6"};
     },
     "25 of 25 were last received from host 10.0.0.7; 0 of 200 processed were",
     "",
     DistinctionKind::host},
    {"a version, and the consumer that runs it",
     [](int) { return Message{.body = "{}", .consumer = "b", .host = "h2", .version = "9f3c2a"}; },
     [](int) { return Message{.body = "{}", .consumer = "a", .host = "h1", .version = "77aa00"}; },
     "25 of 25 last ran on code version 9f3c2a; 0 of 200 processed did",
     "",
     DistinctionKind::code_version},
    {"an hour",
     [](int) { return Message{.body = "{}", .sent_after = std::chrono::minutes(any(60))}; },
     [](int i) { return Message{.body = "{}", .sent_after = std::chrono::hours(1 + i % 9)}; },
     "25 of 25 were sent between 12:00 and 13:00 UTC; 0 of 200 processed were",
     "",
     DistinctionKind::hour},
    {"messages that waited",
     [](int) { return Message{.body = "{}", .age = std::chrono::seconds(400 + any(400))}; },
     [](int) { return Message{.body = "{}", .age = std::chrono::milliseconds(any(4000))}; },
     "25 of 25 waited at least 100 s for the first attempt; 0 of 200 processed did",
     "",
     DistinctionKind::age},
};

TEST(RowComparison, NamesTheCauseAndNothingElse) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    const auto found = rank(count_messages(25, one.dead), count_messages(200, one.processed), 9);
    ASSERT_THAT(sentences_of(found), ElementsAre(one.sentence));
    EXPECT_EQ(found[0].filter, one.filter);
    EXPECT_EQ(found[0].kind, one.kind);
  }
}

// The filters select what the sentences say, on both sides.
TEST(RowComparison, ItsFiltersFit) {
  for (const Case& one : kCases) {
    if (*one.filter == '\0') continue;
    SCOPED_TRACE(one.name);
    const auto filter = Filter::parse(one.filter);
    ASSERT_TRUE(filter.has_value());
    for (const bool dead : {true, false}) {
      const Message message = (dead ? one.dead : one.processed)(3);
      std::vector<AttributeView> attributes;
      for (const auto& [name, value] : message.numbers) {
        attributes.push_back({name, "Number", value});
      }
      EXPECT_EQ(filter->matches({.body = message.body, .attributes = attributes}), dead);
    }
  }
}

TEST(RowComparison, FindsATenantThatIsOnlyOneOfSeveralCauses) {
  const auto dead = count_messages(200, [](int i) {
    return Message{fmt::format(R"({{"tenant":"t-{}"}})", i % 4 == 0 ? 4711 : any(100'000))};
  });
  const auto processed = count_messages(
      5'000, [](int) { return Message{fmt::format(R"({{"tenant":"t-{}"}})", any(100'000))}; });
  EXPECT_THAT(sentences_of(rank(dead, processed, 9)),
              ElementsAre("50 of 200 have tenant = t-4711; 0 of 256 processed do"));
}

TEST(RowComparison, NamesTwoFeaturesWhenNeitherExplains) {
  const char* countries[] = {"de", "fr", "it"};
  const auto order = [&](bool bad) {
    std::string country = countries[any(3)];
    bool has_vat = any(2) == 0;
    if (!bad && country == "de" && !has_vat) has_vat = true;
    if (bad) {
      country = "de";
      has_vat = false;
    }
    return Message{fmt::format(
        R"({{"country":"{}"{},"gift":{}}})", country, has_vat ? R"(,"vat":"x")" : "", any(2) == 0)};
  };
  const auto found = rank(count_messages(40, [&](int) { return order(true); }),
                          count_messages(200, [&](int) { return order(false); }),
                          9);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.size(), 1u) << testing::PrintToString(sentences_of(found));
  EXPECT_EQ(found[0].kind, DistinctionKind::pair);
  EXPECT_THAT(found[0].sentence, testing::HasSubstr("have country = de"));
  EXPECT_THAT(found[0].sentence, testing::HasSubstr("lack key vat"));
  EXPECT_THAT(found[0].sentence, testing::StartsWith("40 of 40 "));
  EXPECT_THAT(found[0].sentence, testing::EndsWith("; 0 of 200 processed do"));
  const auto filter = Filter::parse(found[0].filter);
  ASSERT_TRUE(filter.has_value());
  EXPECT_TRUE(filter->matches({.body = R"({"country":"de"})"}));
  EXPECT_FALSE(filter->matches({.body = R"({"country":"de","vat":"x"})"}));
}

// A number that only grows with time does not explain why later messages failed.
TEST(RowComparison, DoesNotBlameClocksAndSequences) {
  const auto at = [](int i, const char* name) {
    return Message{.body = fmt::format(
                       R"({{"id":{},"at":{},"name":"{}"}})", 1000 + i, 1'790'000'000 + 7 * i, name),
                   .sent_after = std::chrono::seconds(i)};
  };
  const auto dead = count_messages(25, [&](int i) { return at(500 + i, "x"); });
  const auto processed = count_messages(200, [&](int i) { return at(i, "y"); });
  EXPECT_THAT(sentences_of(rank(dead, processed, 9)),
              ElementsAre("25 of 25 have name = x; 0 of 200 processed do"));
}

TEST(RowComparison, SaysNothingWhenTheTwoLookAlike) {
  int said = 0;
  for (int round = 0; round < 40; ++round) {
    const auto message = [](int) {
      std::string tags;
      for (int i = 0; i < any(5); ++i) tags += fmt::format(R"({}"t{}")", i == 0 ? "" : ",", any(9));
      return Message{
          .body = fmt::format(
              R"({{"amount":{},"tenant":"t{}","name":"{}","tags":[{}],"ok":{},"x":{{"y":{}}}}})",
              any(10'000),
              any(500),
              std::string(static_cast<std::size_t>(any(40)), 'n'),
              tags,
              any(2) == 0,
              any(3)),
          .numbers = {{"weight", fmt::format("{}", any(100))}},
          .consumer = fmt::format("c{}", any(3)),
          .host = fmt::format("h{}", any(9)),
          .version = fmt::format("v{}", any(2)),
          .sent_after = std::chrono::seconds(any(80'000)),
          .age = std::chrono::milliseconds(any(90'000))};
    };
    const int messages = round % 3 == 0 ? 5 : round % 3 == 1 ? 40 : 200;
    if (!rank(count_messages(messages, message), count_messages(250, message), 9).empty()) ++said;
  }
  EXPECT_LE(said, 2);
}

TEST(RowComparison, KeepsQuietAboutSecrets) {
  const auto dead = count_messages(
      25, [](int) { return Message{R"({"password":"hunter2","card":{"secret":[1234567]}})"}; });
  const auto processed = count_messages(200, [](int i) {
    return Message{fmt::format(R"({{"password":"p{0}","card":{{"secret":[{0}]}}}})", i)};
  });
  EXPECT_THAT(sentences_of(rank(dead, processed, 9)), IsEmpty());
}

// Rows that were cut neither have nor lack what was cut.
TEST(RowComparison, DoesNotTakeWhatWasCutForMissing) {
  const auto wide = [](int) {
    std::string body = "{";
    for (int i = 0; i < 60; ++i) body += fmt::format(R"("k{}":{{"v":1}},)", i);
    return Message{body + R"("last":"x"})"};
  };
  const auto dead = count_messages(25, [](int) { return Message{R"({"last":"x"})"}; });
  for (const Distinction& found : rank(dead, count_messages(100, wide), 9)) {
    EXPECT_EQ(found.sentence.find("have key last"), std::string::npos) << found.sentence;
    EXPECT_EQ(found.sentence.find("have last"), std::string::npos) << found.sentence;
  }
}

TEST(RowComparison, BearsHostileMessages) {
  std::string keys = "{";
  for (int i = 0; i < 4'000; ++i) keys += fmt::format(R"("k{}":{},)", i, i);
  keys += R"("z":1})";
  const std::string array = "[" + std::string(20'000, '7') + "]";
  std::string items = "[1e308";
  for (int i = 0; i < 8'000; ++i) items += ",[{}]";
  items += "]";
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += R"({"a":[)";
  for (int i = 0; i < 500; ++i) deep += "]}";
  const std::string bodies[] = {keys, array, items, deep, std::string(70'000, '['), "\xff", "-0.0"};
  auto dead = FeatureCounts::with_names();
  FeatureCounts processed;
  for (int i = 0; i < 300; ++i) {
    dead.add({.body = bodies[i % 7], .attributes = {}});
    processed.add({.body = bodies[i % 5], .attributes = {}});
  }
  rank(dead, processed, 9);
  EXPECT_LE(processed.memory_bytes(), FeatureCounts::kMemoryBytesMax);
  const auto back = FeatureCounts::decode(processed.encode());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, processed);
}

// Of 250,000 distinct keys and values a bounded number is kept.
TEST(RowComparison, StaysWithinItsMemory) {
  FeatureCounts counts;
  for (int i = 0; i < 5'000; ++i) {
    std::string body = "{";
    for (int k = 0; k < 50; ++k) body += fmt::format(R"("k{}":"v{}",)", i * 50 + k, i + k);
    counts.add({.body = body + R"("z":[1,2,3]})", .attributes = {}});
  }
  EXPECT_LE(counts.memory_bytes(), FeatureCounts::kMemoryBytesMax);
}

}  // namespace
}  // namespace redrive::triage
