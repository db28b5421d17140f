#include "dead_letters/archive/document.h"

#include <gtest/gtest.h>

namespace redrive::archive {
namespace {

TEST(ArchiveDocument, KeepsAMessageAsItWas) {
  ArchivedLetter archived;
  archived.letter = {.message_id = "id",
                     .body = "a \"quoted\"\nbody \xc3\xbc",
                     .attributes = {{"retryCount", "Number", "3"},
                                    {"raw", "Binary.png", std::string("\0\xff", 2)},
                                    {"empty", "String", ""}},
                     .system_attributes = {{"SentTimestamp", "17"}, {"MessageGroupId", "g"}}};
  archived.source = "http://host/0/orders";
  archived.dlq = "http://host/0/orders-dlq";
  archived.lineage = R"({"lineageId":"id","events":[{"what":"dead-lettered"}]})";
  const auto decoded = decode_archived(encode_archived(archived));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->letter, archived.letter);
  EXPECT_EQ(decoded->source, archived.source);
  EXPECT_EQ(decoded->dlq, archived.dlq);
  EXPECT_EQ(decoded->lineage, archived.lineage);
}

TEST(ArchiveDocument, ReadsWhatOtherScriptsWrote) {
  const auto decoded = decode_archived(
      R"({"Body": "x", "Attribute": {"retryCount": {"StringValue": "4", "DataType": "Number"}}})");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->letter.body, "x");
  EXPECT_EQ(decoded->letter.attribute("retryCount")->value, "4");
  EXPECT_TRUE(decode_archived(R"({"Body": ""})"));
}

TEST(ArchiveDocument, RefusesWhatIsNone) {
  for (const char* text :
       {"",
        "[]",
        "{}",
        "{\"Body\": 1}",
        "nonsense",
        R"({"Body":"x","Attribute":{"a":1}})",
        R"({"Body":"x","Attribute":{"a":{"DataType":"Binary","BinaryValue":"?"}}})"}) {
    EXPECT_FALSE(decode_archived(text)) << text;
  }
}

TEST(ArchiveKey, SaysWhenAndWho) {
  const Timestamp time(1'794'787'200'045);
  const std::string key = archive_key("unprocessed/x/", time, "id-1");
  EXPECT_EQ(key, "unprocessed/x/Nov-16-2026/1794787200.045_id-1.json");
  EXPECT_EQ(archive_key("", time, "i"), "Nov-16-2026/1794787200.045_i.json");
  const auto parsed = parse_archive_key(key);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->time, time);
  EXPECT_EQ(parsed->day, "Nov-16-2026");
  EXPECT_EQ(parsed->message_id, "id-1");
}

TEST(ArchiveKey, ReadsThoseOfOtherScripts) {
  EXPECT_EQ(parse_archive_key("p/Jan-01-2024/1704067200.123456_m.json")->time.ms(),
            1'704'067'200'123);
  EXPECT_EQ(parse_archive_key("p/Jan-01-2024/1704067200.5_m.json")->time.ms(), 1'704'067'200'500);
  for (const char* key : {"", "x.json", "p/d/x.json", "p/d/12_m.txt", "p/d/abc_m.json"}) {
    EXPECT_FALSE(parse_archive_key(key)) << key;
  }
}

// However often archiving is retried, it is the same document.
TEST(ArchiveKey, FollowsTheFirstReceiveWhereThatIsKnown) {
  const Timestamp now(1'700'000'000'000);
  Letter letter;
  EXPECT_EQ(archive_time(letter, now), now);
  letter.system_attributes = {{"ApproximateFirstReceiveTimestamp", "1600000000000"}};
  EXPECT_EQ(archive_time(letter, now), Timestamp(1'600'000'000'000));
  letter.system_attributes = {{"ApproximateFirstReceiveTimestamp", "1700000000001"}};
  EXPECT_EQ(archive_time(letter, now), Timestamp(1'700'000'000'001));
  letter.system_attributes = {{"ApproximateFirstReceiveTimestamp", "soon"}};
  EXPECT_EQ(archive_time(letter, now), now);
}

}  // namespace
}  // namespace redrive::archive
