#include "aws/sqs/draft.h"

#include <gtest/gtest.h>

#include "aws/sqs/call.h"
#include "base/text.h"
#include "core/store/message_codec.h"
#include "tests/core/engine/engine_world.h"

namespace redrive::sqs {
namespace {

using queue::QueueSettings;

// A message that owns its texts, good until a test spoils it.
struct Message {
  std::string body = "hello";
  std::optional<std::int32_t> delay;
  MessageAttributes attributes;
  MessageAttributes system_attributes;
  std::optional<std::string> dedup;
  std::optional<std::string> group;

  OutgoingMessage outgoing() const {
    return {.body = body,
            .delay_seconds = delay,
            .attributes = attributes,
            .system_attributes = system_attributes,
            .dedup_id = dedup ? std::optional<std::string_view>(*dedup) : std::nullopt,
            .group_id = group ? std::optional<std::string_view>(*group) : std::nullopt};
  }
};

MessageAttributeValue text_value(std::string_view type, std::string_view value) {
  return {.data_type = type, .string_value = value};
}

MessageAttributeValue binary_value(std::string_view bytes) {
  return {.data_type = "Binary", .binary_value = wire::Blob{bytes}};
}

QueueSettings fifo_queue(bool content_based = false) {
  QueueSettings settings;
  settings.fifo = queue::FifoSettings{.content_based_dedup = content_based};
  return settings;
}

std::optional<Error> fault(const Message& message, const QueueSettings& settings = {},
                           SendForm form = SendForm::single) {
  const auto checked = check_message(message.outgoing(), settings, form);
  return checked ? std::nullopt : std::optional(checked.error());
}

std::optional<Error> attribute_fault(std::string_view name, const MessageAttributeValue& value) {
  Message message;
  message.attributes = {{name, value}};
  return fault(message);
}

Error invalid(std::string message) {
  return {ErrorCode::invalid_parameter_value, std::move(message)};
}

std::string hex(const Md5& digest) {
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// ---- Bodies

TEST(CheckMessage, APlainMessageIsFine) {
  EXPECT_EQ(fault({}), std::nullopt);
}

TEST(CheckMessage, ABodyMustNotBeEmpty) {
  EXPECT_EQ(
      fault({.body = ""}),
      (Error{ErrorCode::missing_parameter, "The request must contain the parameter MessageBody."}));
}

TEST(CheckMessage, ABodyHoldsOnlyWhatAMessageMay) {
  for (const char* body : {"\x01", "a\x0b", "\xef\xbf\xbe", "\xed\xa0\x80", "\xff"}) {
    const auto error = fault({.body = body});
    ASSERT_TRUE(error.has_value()) << to_hex(body);
    EXPECT_EQ(error->code, ErrorCode::invalid_message_contents);
  }
  EXPECT_EQ(fault({.body = "\t\r\n h€llo 😀"}), std::nullopt);
}

TEST(CheckMessage, TheSizeCountsBodyAndAttributes) {
  QueueSettings settings;
  settings.message_bytes_max = 1024;
  Message message;
  message.body = std::string(1024, 'x');
  EXPECT_EQ(fault(message, settings), std::nullopt);
  message.body.push_back('x');
  EXPECT_EQ(
      fault(message, settings),
      invalid(
          "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes."));
  EXPECT_EQ(
      fault(message, settings, SendForm::batch_entry),
      invalid(
          "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 "
          "bytes."));

  message.attributes = {{"name", text_value("String", "value")}, {"raw", binary_value("1234")}};
  EXPECT_EQ(message_bytes(message.outgoing()), 1025u + (4 + 6 + 5) + (3 + 6 + 4));
  message.body = std::string(1024 - 28, 'x');
  EXPECT_EQ(fault(message, settings), std::nullopt);
  message.body.push_back('x');
  EXPECT_TRUE(fault(message, settings).has_value());
}

TEST(CheckMessage, SystemAttributesDoNotCount) {
  QueueSettings settings;
  settings.message_bytes_max = 1024;
  Message message;
  message.body = std::string(1024, 'x');
  message.system_attributes = {{"AWSTraceHeader", text_value("String", "Root=1")}};
  EXPECT_EQ(fault(message, settings), std::nullopt);
}

// Size comes before characters, characters before attributes, those before ids.
TEST(CheckMessage, ReportsTheFirstFaultInTheOrderOfTheReference) {
  QueueSettings settings;
  settings.message_bytes_max = 1024;
  Message message;
  message.body = std::string(2000, '\x01');
  message.attributes = {{"", text_value("String", "x")}};
  message.group = "";
  EXPECT_NE(fault(message, settings)->message.find("shorter than"), std::string::npos);
  message.body = "\x01";
  EXPECT_EQ(fault(message, settings)->code, ErrorCode::invalid_message_contents);
  message.body = "x";
  EXPECT_NE(fault(message, settings)->message.find("attribute name"), std::string::npos);
  message.attributes.clear();
  EXPECT_NE(fault(message, settings)->message.find("MessageGroupId"), std::string::npos);
}

// ---- Attributes

TEST(CheckAttributes, NamesFollowTheirRules) {
  const std::string longest(256, 'a');
  for (const std::string& name : {std::string("a"),
                                  std::string("A-z_0.9"),
                                  std::string("AWSome"),
                                  std::string("Amazonas"),
                                  longest}) {
    EXPECT_EQ(attribute_fault(name, text_value("String", "x")), std::nullopt) << name;
  }
  for (const std::string& name : {std::string(),
                                  longest + "a",
                                  std::string("a b"),
                                  std::string("a!"),
                                  std::string("a\""),
                                  std::string("§"),
                                  std::string("a("),
                                  std::string("a?"),
                                  std::string("a×b"),
                                  std::string("日本"),
                                  std::string("attr.1øßä"),
                                  std::string("pаssword"),
                                  std::string("AWS.x"),
                                  std::string("aWs.x"),
                                  std::string("Amazon.x"),
                                  std::string("AMAZON.x"),
                                  std::string(".a"),
                                  std::string("a."),
                                  std::string("a..b"),
                                  std::string("\xc3("),
                                  std::string("\xc3")}) {
    const auto error = attribute_fault(name, text_value("String", "x"));
    ASSERT_TRUE(error.has_value()) << name;
    EXPECT_EQ(error->code, ErrorCode::invalid_parameter_value) << name;
  }
}

// Earlier versions took Latin letters with marks: such a message can still be edited and restored.
TEST(CheckAttributes, NamesStoredByEarlierVersionsStayUsable) {
  Message message;
  message.attributes = {{"attr.1øßä", text_value("String", "x")}};
  EXPECT_EQ(fault(message, {}, SendForm::stored), std::nullopt);
  message.attributes = {{"日本", text_value("String", "x")}};
  EXPECT_TRUE(fault(message, {}, SendForm::stored).has_value());
}

TEST(CheckAttributes, TypesBeginWithOneOfThree) {
  const std::string longest = "String." + std::string(249, 'x');
  for (const std::string& type : {std::string("String"), std::string("String.custom"), longest}) {
    EXPECT_EQ(attribute_fault("a", text_value(type, "x")), std::nullopt) << type;
  }
  EXPECT_EQ(attribute_fault("a", text_value("Number.int", "1")), std::nullopt);
  for (const std::string& type : {std::string(),
                                  std::string("Invalid"),
                                  std::string("string"),
                                  std::string("Strings"),
                                  std::string("String.\xed\xa0\x80"),
                                  std::string("String.\xff"),
                                  std::string("String.\x01"),
                                  std::string("String.\uFFFE"),
                                  longest + "x"}) {
    EXPECT_EQ(attribute_fault("a", text_value(type, "x"))->code, ErrorCode::invalid_parameter_value)
        << type;
  }
}

TEST(CheckAttributes, ValuesMustBeThereAndOfTheirType) {
  EXPECT_EQ(
      attribute_fault("a", text_value("String", "")),
      invalid("Message (user) attribute 'a' must contain a non-empty value of type 'String'."));
  EXPECT_TRUE(attribute_fault("a", {.data_type = "String"}).has_value());
  EXPECT_TRUE(attribute_fault("a", {.data_type = "Binary"}).has_value());
  EXPECT_TRUE(attribute_fault("a", binary_value("")).has_value());
  EXPECT_TRUE(attribute_fault("a", text_value("Binary", "text")).has_value());
  EXPECT_TRUE(
      attribute_fault("a", {.data_type = "String", .binary_value = wire::Blob{"x"}}).has_value());
  EXPECT_EQ(attribute_fault("a", binary_value("\x01\xff")), std::nullopt);
  EXPECT_EQ(attribute_fault("a", text_value("String", "\x01"))->code,
            ErrorCode::invalid_parameter_value);
}

TEST(CheckAttributes, ListsAreNotSupported) {
  MessageAttributeValue value = text_value("String", "x");
  value.string_list_values = {"a"};
  EXPECT_TRUE(attribute_fault("a", value).has_value());
  value.string_list_values.clear();
  value.binary_list_values = {wire::Blob{"a"}};
  EXPECT_TRUE(attribute_fault("a", value).has_value());
}

TEST(CheckAttributes, AtMostTen) {
  const std::string names = "abcdefghijk";
  Message message;
  for (std::size_t i = 0; i < 10; ++i) {
    message.attributes.emplace_back(std::string_view(names).substr(i, 1),
                                    text_value("String", "x"));
  }
  EXPECT_EQ(fault(message), std::nullopt);
  message.attributes.emplace_back(std::string_view(names).substr(10, 1), text_value("String", "x"));
  EXPECT_EQ(fault(message),
            invalid("Number of message attributes [11] exceeds the allowed maximum [10]."));
}

TEST(CheckAttributes, NumbersAreDecimalWithUpTo38Digits) {
  const std::string digits38(38, '9');
  const std::string tiny = "0." + std::string(127, '0') + "1";  // 10^-128
  for (const std::string& number : {std::string("0"),
                                    std::string("-0"),
                                    std::string("1"),
                                    std::string("+1"),
                                    std::string("-12.50"),
                                    std::string(".5"),
                                    std::string("5."),
                                    std::string("007"),
                                    std::string("1e10"),
                                    std::string("1E+10"),
                                    std::string("1.5e-7"),
                                    std::string("1e126"),
                                    std::string("1e-128"),
                                    digits38,
                                    "0." + digits38,
                                    tiny,
                                    std::string("000000000000000000000000000000000000000000000001"),
                                    std::string("0e999")}) {
    EXPECT_EQ(attribute_fault("n", text_value("Number", number)), std::nullopt) << number;
  }
  for (const std::string& number : {std::string("-"),
                                    std::string("."),
                                    std::string("1.2.3"),
                                    std::string("1e"),
                                    std::string("e1"),
                                    std::string("1e1.5"),
                                    std::string("0x1"),
                                    std::string(" 1"),
                                    std::string("1 "),
                                    std::string("1,5"),
                                    std::string("--1"),
                                    std::string("NaN"),
                                    std::string("Infinity"),
                                    std::string("1e127"),
                                    std::string("1e-129"),
                                    digits38 + "9",
                                    "0" + tiny.substr(1, 128) + "01",
                                    std::string("1e99999999999")}) {
    EXPECT_EQ(attribute_fault("n", text_value("Number", number)),
              invalid("Can't cast the value of message (user) attribute 'n' to a number."))
        << number;
  }
}

TEST(CheckAttributes, OfTheSystemOnlyTheTraceHeaderMayBeGiven) {
  Message message;
  message.system_attributes = {{"AWSTraceHeader", text_value("String", "Root=1")}};
  EXPECT_EQ(fault(message), std::nullopt);
  for (const auto& [name, value] :
       MessageAttributes{{"SenderId", text_value("String", "x")},
                         {"AWSTraceHeader", text_value("String", "")},
                         {"AWSTraceHeader", text_value("Number", "1")},
                         {"AWSTraceHeader", text_value("String", "\x01")}}) {
    message.system_attributes = {{name, value}};
    EXPECT_EQ(fault(message)->code, ErrorCode::invalid_parameter_value) << name;
  }
}

// ---- Ids, delays and the kind of queue

TEST(CheckIds, ArePrintableAsciiWithoutSpaces) {
  std::string punctuation;
  for (char c = '!'; c <= '~'; ++c) punctuation += c;
  EXPECT_TRUE(is_id_text(punctuation));
  EXPECT_TRUE(is_id_text(std::string(128, 'x')));
  for (const std::string& id : {std::string(),
                                std::string(129, 'x'),
                                std::string("a b"),
                                std::string("a\n"),
                                std::string("\x7f"),
                                std::string("ä")}) {
    EXPECT_FALSE(is_id_text(id)) << id;
    EXPECT_EQ(
        fault({.group = id}),
        invalid("Value " + id +
                " for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include "
                "alphanumeric and punctuation characters. 1 to 128 in length."));
    EXPECT_EQ(
        fault({.dedup = id, .group = "g"}, fifo_queue()),
        invalid(
            "Value " + id +
            " for parameter MessageDeduplicationId is invalid. Reason: MessageDeduplicationId can "
            "only include alphanumeric and punctuation characters. 1 to 128 in length."));
  }
}

TEST(CheckKind, AStandardQueueTakesAGroupButNoDeduplicationId) {
  EXPECT_EQ(fault({.group = "tenant"}), std::nullopt);
  EXPECT_EQ(
      fault({.dedup = "x"}),
      invalid(
          "Value x for parameter MessageDeduplicationId is invalid. Reason: The request includes a "
          "parameter that is not valid for this queue type."));
}

TEST(CheckKind, AFifoQueueNeedsAGroupAndSomethingToTellDuplicatesBy) {
  EXPECT_EQ(fault({.dedup = "x"}, fifo_queue()),
            (Error{ErrorCode::missing_parameter,
                   "The request must contain the parameter MessageGroupId."}));
  EXPECT_EQ(fault({.group = "g"}, fifo_queue()),
            invalid("The queue should either have ContentBasedDeduplication enabled or "
                    "MessageDeduplicationId provided explicitly"));
  EXPECT_EQ(fault({.group = "g"}, fifo_queue(true)), std::nullopt);
  EXPECT_EQ(fault({.dedup = "x", .group = "g"}, fifo_queue()), std::nullopt);
}

TEST(CheckKind, DelaysHaveARangeAndAreNotForFifoMessages) {
  EXPECT_EQ(fault({.delay = 0}), std::nullopt);
  EXPECT_EQ(fault({.delay = 900}), std::nullopt);
  for (const int delay : {-1, 901}) {
    EXPECT_EQ(fault({.delay = delay}),
              invalid("Value " + std::to_string(delay) +
                      " for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 "
                      "and <= 900."));
  }
  EXPECT_EQ(fault({.delay = 0, .dedup = "x", .group = "g"}, fifo_queue()), std::nullopt);
  EXPECT_EQ(
      fault({.delay = 2, .dedup = "x", .group = "g"}, fifo_queue()),
      invalid(
          "Value 2 for parameter DelaySeconds is invalid. Reason: The request include parameter "
          "that is not valid for this queue type."));
}

// ---- Digests, by the vectors of the reference

TEST(Md5OfAttributes, MatchesKnownDigests) {
  EXPECT_EQ(hex(md5_of_attributes({{"k", text_value("String", "x")}})),
            "a45daa70926828a2f0a1db3418e6feb4");
  EXPECT_EQ(hex(md5_of_attributes({{"Foo", text_value("String", "Bar")}})),
            "ae7155c6026991b6d54b11589678bf9c");
  EXPECT_EQ(hex(md5_of_attributes({{"timestamp", text_value("Number", "1493147359900")}})),
            "235c5c510d26fb653d073faed50ae77c");
  EXPECT_EQ(
      hex(md5_of_attributes(
          {{"AWSTraceHeader",
            text_value(
                "String",
                "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")}})),
      "5ae4d5d7636402d80f4eb6d213245a88");
}

TEST(Md5OfAttributes, DoesNotDependOnTheirOrder) {
  const std::pair<std::string_view, MessageAttributeValue> bin = {
      "Bin", binary_value(std::string_view("\x00\x01\x02\xff", 4))};
  const std::pair<std::string_view, MessageAttributeValue> color = {"color",
                                                                    text_value("String", "blue")};
  const std::pair<std::string_view, MessageAttributeValue> price = {
      "price", text_value("Number.float", "12.50")};
  for (const MessageAttributes& order : {MessageAttributes{bin, color, price},
                                         MessageAttributes{price, color, bin},
                                         MessageAttributes{color, bin, price}}) {
    EXPECT_EQ(hex(md5_of_attributes(order)), "bc4d10d9f31639fa3fe39b4383ae73be");
  }
}

// ---- From a checked message to a draft

struct Prepare : testing::Test {
  engine::EngineWorld world;
  ServiceOptions options;
  Call call{world.engine(), options};
  PreparedMessage prepared;
  std::string stored;

  store::MessageContents contents(const Message& message, const QueueSettings& settings = {}) {
    prepare_message(
        {.id = call.sender_id, .trace = call.trace}, message.outgoing(), settings, prepared);
    EXPECT_EQ(prepared.body, message.body);
    set_digest(prepared, md5(prepared.body));
    store::encode_message_head(stored,
                               {.tail_crc = prepared.draft.tail_crc, .tail = prepared.tail});
    stored += prepared.tail;
    const auto decoded = store::decode_message(stored);  // Also proves the checksum right.
    EXPECT_TRUE(decoded.has_value());
    return decoded ? decoded->contents : store::MessageContents{};
  }
};

TEST_F(Prepare, KeepsEverythingTheSenderGave) {
  call.sender_id = "AIDA";
  call.trace = "Root=from-http";
  Message message;
  message.group = "tenant";
  message.delay = 7;
  message.attributes = {{"color", text_value("String", "blue")}, {"raw", binary_value("\x01")}};
  const auto kept = contents(message);
  EXPECT_EQ(kept.body, "hello");
  EXPECT_EQ(kept.md5_of_body, md5("hello"));
  EXPECT_EQ(kept.sender, "AIDA");
  EXPECT_EQ(kept.trace, "Root=from-http");
  EXPECT_EQ(kept.group, "tenant");
  EXPECT_EQ(kept.attribute_count, 2);
  EXPECT_EQ(kept.md5_of_attributes, md5_of_attributes(message.attributes));
  EXPECT_EQ(prepared.md5_of_attributes, kept.md5_of_attributes);
  EXPECT_EQ(prepared.md5_of_system_attributes, std::nullopt);
  EXPECT_EQ(prepared.draft.group, "tenant");
  EXPECT_EQ(prepared.draft.delay, std::chrono::seconds(7));
}

TEST_F(Prepare, ATraceHeaderGivenAsAttributeWins) {
  call.trace = "Root=from-http";
  Message message;
  message.system_attributes = {{"AWSTraceHeader", text_value("String", "Root=given")}};
  EXPECT_EQ(contents(message).trace, "Root=given");
  EXPECT_EQ(prepared.md5_of_system_attributes, md5_of_attributes(message.system_attributes));
}

TEST_F(Prepare, AFifoMessageHasTheDigestOfItsBodyForAnIdUnlessOneIsGiven) {
  Message message;
  message.body = R"({"order":1})";
  message.group = "g";
  EXPECT_EQ(contents(message, fifo_queue(true)).dedup,
            "a781679e01308cfef90983a4c1350319a7e3993c3a3f5a8c8439781a326d7c8d");
  EXPECT_EQ(prepared.draft.dedup, prepared.dedup);
}

TEST_F(Prepare, AnIdGivenWinsOverTheDigest) {
  Message message;
  message.group = "g";
  message.dedup = "mine";
  message.delay = 0;
  EXPECT_EQ(contents(message, fifo_queue(true)).dedup, "mine");
  EXPECT_EQ(prepared.draft.delay, std::nullopt);  // The queue's own delay holds.
}

}  // namespace
}  // namespace redrive::sqs
