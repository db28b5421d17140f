#include "core/store/message_codec.h"

#include <gtest/gtest.h>

#include <vector>

namespace redrive::store {
namespace {

struct Sample {
  std::string attributes;
  std::string tail;
  std::string stored;

  Sample() {
    append_attribute(attributes, {"color", "String.name", "blue", false});
    append_attribute(attributes, {"raw", "Binary", std::string_view("\0\1\2\xff", 4), true});
    MessageContents contents;
    contents.group = "group";
    contents.dedup = "dedup";
    contents.sender = "AIDA";
    contents.trace = "Root=1";
    contents.md5_of_body = md5("body");
    contents.md5_of_attributes = md5("attributes");
    contents.attribute_count = 2;
    contents.attributes = attributes;
    contents.body = "body";
    encode_tail(tail, contents);
    encode_message_head(stored,
                        {.key = static_cast<queue::MessageKey>(7),
                         .queue = static_cast<queue::QueueKey>(3),
                         .message_id = Uuid{{1, 2, 3}},
                         .sent_wall = Timestamp(1'700'000'000'123),
                         .visible_at = Timestamp(42),
                         .contents = {},
                         .tail_crc = crc32c(tail),
                         .tail = tail});
    stored += tail;
  }
};

// Sizes of more than one byte, for each text that may have them.
TEST(MessageCodec, GivesBackLongTexts) {
  const std::string trace = "Root=" + std::string(295, 't');
  const std::string sender(700, 's');
  const std::string body(70'000, 'b');
  std::string attributes;
  const std::string name(256, 'n');
  const std::string type = "String." + std::string(249, 'y');
  const std::string value(66'000, 'v');
  append_attribute(attributes, {name, type, value, false});
  const std::string group(128, 'g');
  const std::string dedup(128, 'd');
  const std::string stored = encode_message({},
                                            {.group = group,
                                             .dedup = dedup,
                                             .sender = sender,
                                             .trace = trace,
                                             .attribute_count = 1,
                                             .attributes = attributes,
                                             .body = body});
  const auto message = decode_message(stored);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->contents.trace, trace);
  EXPECT_EQ(message->contents.sender, sender);
  EXPECT_EQ(message->contents.group, group);
  EXPECT_EQ(message->contents.dedup, dedup);
  EXPECT_EQ(message->contents.body, body);
  int count = 0;
  message->contents.for_each_attribute([&](const AttributeView& attribute) {
    ++count;
    EXPECT_EQ(attribute.name, name);
    EXPECT_EQ(attribute.type, type);
    EXPECT_EQ(attribute.value, value);
  });
  EXPECT_EQ(count, 1);
}

TEST(MessageCodec, GivesBackWhatWasWritten) {
  const Sample sample;
  const auto message = decode_message(sample.stored);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(number(message->key), 7u);
  EXPECT_EQ(number(message->queue), 3u);
  EXPECT_EQ(message->message_id, (Uuid{{1, 2, 3}}));
  EXPECT_EQ(message->sent_wall, Timestamp(1'700'000'000'123));
  EXPECT_EQ(message->visible_at, Timestamp(42));
  EXPECT_EQ(message->tail, sample.tail);
  EXPECT_EQ(message->tail_crc, crc32c(sample.tail));
  const MessageContents& contents = message->contents;
  EXPECT_EQ(contents.group, "group");
  EXPECT_EQ(contents.dedup, "dedup");
  EXPECT_EQ(contents.sender, "AIDA");
  EXPECT_EQ(contents.trace, "Root=1");
  EXPECT_EQ(contents.md5_of_body, md5("body"));
  EXPECT_EQ(contents.md5_of_attributes, md5("attributes"));
  EXPECT_EQ(contents.body, "body");
}

TEST(MessageCodec, GivesBackTheAttributesInTheirOrder) {
  const Sample sample;
  const auto message = decode_message(sample.stored);
  ASSERT_TRUE(message.has_value());
  std::vector<AttributeView> seen;
  message->contents.for_each_attribute([&](const AttributeView& view) { seen.push_back(view); });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].name, "color");
  EXPECT_EQ(seen[0].type, "String.name");
  EXPECT_EQ(seen[0].value, "blue");
  EXPECT_FALSE(seen[0].binary);
  EXPECT_EQ(seen[1].name, "raw");
  EXPECT_EQ(seen[1].value, std::string_view("\0\1\2\xff", 4));
  EXPECT_TRUE(seen[1].binary);
}

TEST(MessageCodec, OfAnEmptyMessageIsAllHeads) {
  std::string tail;
  encode_tail(tail, {});
  std::string stored;
  encode_message_head(stored, {.tail_crc = crc32c(tail), .tail = tail});
  stored += tail;
  const auto message = decode_message(stored);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->contents.body, "");
  message->contents.for_each_attribute([](const AttributeView&) { FAIL(); });
}

// A reused buffer works like a new one, also when it has to grow a little.
TEST(MessageCodec, ATailIsAsLongAsItsParts) {
  std::string tail;
  for (std::size_t size = 0; size < 3'000; size += 7) {
    const std::string body(size, 'b');
    tail.clear();
    encode_tail(tail, {.sender = "AIDA", .body = body});
    ASSERT_EQ(tail.size(), kTailTextsAt + 4 + size);
    ASSERT_EQ(std::string_view(tail).substr(kTailTextsAt), "AIDA" + body);
  }
}

TEST(MessageCodec, TheDigestOfTheBodyMayComeLater) {
  std::string at_once;
  encode_tail(at_once, {.group = "g", .md5_of_body = md5("body"), .body = "body"});
  std::string later;
  encode_tail(later, {.group = "g", .body = "body"});
  EXPECT_NE(later, at_once);
  set_body_digest(later, md5("body"));
  EXPECT_EQ(later, at_once);
}

TEST(MessageCodec, RefusesEveryPrefixAndAnyByteTooMany) {
  const Sample sample;
  for (std::size_t size = 0; size < sample.stored.size(); ++size) {
    EXPECT_FALSE(decode_message(std::string_view(sample.stored).substr(0, size)).has_value())
        << size;
  }
  EXPECT_FALSE(decode_message(sample.stored + '\0').has_value());
}

TEST(MessageCodec, RefusesEveryFlippedBit) {
  const Sample sample;
  for (std::size_t bit = 0; bit < sample.stored.size() * 8; ++bit) {
    std::string bad = sample.stored;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_message(bad).has_value()) << "bit " << bit;
  }
}

}  // namespace
}  // namespace redrive::store
