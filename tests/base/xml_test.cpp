#include "base/xml.h"

#include <gtest/gtest.h>

namespace redrive {
namespace {

TEST(ParseXml, ReadsWhatS3AndItsClientsWrite) {
  const auto root = parse_xml(
      "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- hello --><s3:Delete xmlns:s3='http://x/' a = "
      "\"<\">"
      "<Quiet>true</Quiet><Object><Key>a&amp;b&#x20;&#99;<![CDATA[<d>]]></Key></Object><Empty/>"
      "</s3:Delete >\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "Delete");
  EXPECT_EQ(root->text_of("Quiet"), "true");
  ASSERT_NE(root->find("Object"), nullptr);
  EXPECT_EQ(root->find("Object")->text_of("Key"), "a&b c<d>");
  EXPECT_EQ(root->text_of("Empty"), "");
  EXPECT_EQ(root->find("Missing"), nullptr);
}

TEST(ParseXml, RefusesEverythingElse) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (int i = 0; i < 100; ++i) deep += "</a>";
  for (const std::string& text : {std::string(""),
                                  std::string("text"),
                                  std::string("<a>"),
                                  std::string("<a></b>"),
                                  std::string("<a/><b/>"),
                                  std::string("<a>&unknown;</a>"),
                                  std::string("<a>&#0;</a>"),
                                  std::string("<a>&#xD800;</a>"),
                                  std::string("<!DOCTYPE a [<!ENTITY x 'y'>]><a/>"),
                                  std::string("<a b></a>"),
                                  std::string("<a b='c></a>"),
                                  std::string("<"),
                                  std::string("<a><![CDATA[x</a>"),
                                  deep}) {
    EXPECT_FALSE(parse_xml(text)) << text.substr(0, 40);
  }
}

TEST(ParseXml, RefusesWhatIsNoUnicode) {
  for (const std::string_view text : {"<a>\xff</a>",
                                      "<a>\xed\xa0\x80</a>",
                                      "<a>&#0;</a>",
                                      "<a>&#xD800;</a>",
                                      "<a>&#x110000;</a>"}) {
    EXPECT_FALSE(parse_xml(text).has_value()) << text;
  }
  // More than XML 1.0 allows: a stored key may contain it.
  EXPECT_EQ(parse_xml("<a>\x01&#x2;</a>")->text, "\x01\x02");
  EXPECT_EQ(parse_xml("<a>&#x9;&#xD;&#x1F98A;</a>")->text, "\t\r🦊");
}

}  // namespace
}  // namespace redrive
