#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

#include "base/text.h"
#include "base/xml.h"
#include "net/wire/encode.h"
#include "tests/net/wire/parcel.h"

namespace redrive::wire {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  append_xml_text(out, text);
  return out;
}

TEST(JsonSink, WritesEveryKind) {
  std::string out;
  encode_json(out, full_parcel());
  EXPECT_EQ(
      out,
      R"({"Sender":"Zoë \"Z\" <z&co>","Letter":"line one\r\nline two\t\\ \u0001 100% + more",)"
      R"("Weight":900,"Floor":-2,"PostedAt":1767268800000,"Litres":0.125,"Fragile":true,)"
      R"("Id":"5fea7756-0ea4-451a-a703-a558b933e274","Digest":"f5b75010ea8a54b96f8fe7dafac65c18",)"
      R"("Note":"","Seal":{"Country":"AT","Image":""},"Routes":["north","","a=b&c"],)"
      R"("Stamps":[{"Country":"NL","Cents":80,"Image":"AP8Q"},{"Country":"","Cents":0}],)"
      R"("Labels":{"k1":"v.1","":"empty key","k.3":""},)"
      R"("Extras":{"first":{"Country":"DE","Cents":1},"second":{"Country":"FR"}}})");
}

TEST(JsonSink, LeavesOutWhatIsAbsentUnlessItIsAlwaysThere) {
  std::string out;
  encode_json(out, Parcel{});
  EXPECT_EQ(out, R"({"Letter":"","Weight":0,"Fragile":false,"Routes":[]})");
}

TEST(JsonSink, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_text(""), R"("")");
  EXPECT_EQ(json_text("\"\\\n\r\t"), R"("\"\\\n\r\t")");
  EXPECT_EQ(json_text(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(json_text("h€llo 😀"), "\"h€llo 😀\"");
  const std::string clean(100, 'x');
  EXPECT_EQ(json_text(clean + "\"" + clean), "\"" + clean + "\\\"" + clean + "\"");
}

TEST(XmlSink, FlattensCollections) {
  std::string out;
  encode_xml(out, full_parcel());
  EXPECT_EQ(out,
            "<Sender>Zoë &quot;Z&quot; &lt;z&amp;co&gt;</Sender>"
            "<Letter>line one&#xD;\nline two\t\\ \uFFFD 100% + more</Letter>"
            "<Weight>900</Weight><Floor>-2</Floor><PostedAt>1767268800000</PostedAt>"
            "<Litres>0.125</Litres>"
            "<Fragile>true</Fragile><Id>5fea7756-0ea4-451a-a703-a558b933e274</Id>"
            "<Digest>f5b75010ea8a54b96f8fe7dafac65c18</Digest><Note></Note>"
            "<Seal><Country>AT</Country><Image></Image></Seal>"
            "<Route>north</Route><Route></Route><Route>a=b&amp;c</Route>"
            "<Stamp><Country>NL</Country><Cents>80</Cents><Image>AP8Q</Image></Stamp>"
            "<Stamp><Country></Country><Cents>0</Cents></Stamp>"
            "<Label><Key>k1</Key><Value>v.1</Value></Label>"
            "<Label><Key></Key><Value>empty key</Value></Label>"
            "<Label><Key>k.3</Key><Value></Value></Label>"
            "<Extra><Name>first</Name><Value><Country>DE</Country><Cents>1</Cents></Value></Extra>"
            "<Extra><Name>second</Name><Value><Country>FR</Country></Value></Extra>");
}

// Parsers normalise raw carriage returns, which would break the body and its MD5.
TEST(XmlSink, KeepsCarriageReturnsAndQuotesApartFromTheirEntities) {
  EXPECT_EQ(xml_text("a\r\nb"), "a&#xD;\nb");
  EXPECT_EQ(xml_text("\"&quot;"), "&quot;&amp;quot;");
  EXPECT_EQ(xml_text("<a>'\t"), "&lt;a&gt;'\t");
}

// Texts made of pieces that an encoder must escape, valid and broken.
std::string hostile_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"plain",
                                                   "\"",
                                                   "\\",
                                                   "<&>'",
                                                   "]]>",
                                                   "\r\n\t",
                                                   "\x01\x1f",
                                                   "\x7f",
                                                   "\u0085\u2028",
                                                   "Grüße",
                                                   "日本語",
                                                   "🦊",
                                                   "\uFFFD",
                                                   "\uFFFE",
                                                   "\uFFFF",
                                                   "\xff",
                                                   "\xc0\xaf",
                                                   "\xed\xa0\x80",
                                                   "\xe2\x82",
                                                   "\xf0\x9f\xa6",
                                                   "\x80",
                                                   "\xf4\x90\x80\x80",
                                                   std::string(70, 'x'),
                                                   std::string("\0", 1)};
  std::string text;
  for (std::size_t left = random() % 12; left > 0; --left)
    text += kPieces[random() % kPieces.size()];
  return text;
}

// Whatever is stored, the output is valid and represents it as far as possible.
TEST(Sinks, AreValidWhateverTheTextIs) {
  std::mt19937 random(18);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = hostile_text(random);
    const std::string json = json_text(text);
    ASSERT_TRUE(is_utf8(json)) << to_hex(text);
    std::string_view read;
    ASSERT_EQ(parser.parse(json).get(read), simdjson::SUCCESS) << to_hex(text);
    ASSERT_EQ(read, replace_invalid(text)) << to_hex(text);

    const std::string xml = "<t>" + xml_text(text) + "</t>";
    ASSERT_TRUE(is_message_text(xml)) << to_hex(text);
    const auto element = parse_xml(xml);
    ASSERT_TRUE(element.has_value()) << to_hex(text);
    ASSERT_EQ(element->text, replace_invalid(text, Repertoire::xml)) << to_hex(text);
  }
}

TEST(Sinks, AreValidInEveryMember) {
  std::mt19937 random(7);
  simdjson::dom::parser parser;
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 9; ++i) texts.push_back(hostile_text(random));
    Parcel parcel = full_parcel();
    parcel.sender = texts[0];
    parcel.letter = texts[1];
    parcel.note = texts[2];
    parcel.seal->country = texts[3];
    parcel.routes = {texts[4]};
    parcel.labels = {{texts[5], texts[6]}};
    parcel.extras = {{texts[7], Stamp{.country = texts[8], .cents = {}, .image = {}}}};
    std::string json;
    encode_json(json, parcel);
    ASSERT_TRUE(is_utf8(json));
    ASSERT_EQ(parser.parse(json).error(), simdjson::SUCCESS) << json;
    std::string xml = "<t>";
    encode_xml(xml, parcel);
    xml += "</t>";
    ASSERT_TRUE(is_message_text(xml));
    ASSERT_TRUE(parse_xml(xml).has_value()) << xml;
  }
}

}  // namespace
}  // namespace redrive::wire
