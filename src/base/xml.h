#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive {

// An element of an XML document. Attributes are passed over, and so are the prefixes of names.
struct XmlElement {
  std::string name;
  std::string text;  // All of its own text, joined.
  std::vector<XmlElement> children;

  // The first child of that name; nullptr when there is none.
  const XmlElement* find(std::string_view child) const;
  // The text of that child; empty when there is none.
  std::string_view text_of(std::string_view child) const;
};

// Reads a document as S3 and its clients write them: elements, text, the five named entities and
// character references, CDATA, comments. Nothing when it is malformed, has a character that XML 1.0
// does not allow or bytes that are not UTF-8, has a DOCTYPE, is nested deeper than 32 or has more
// than 100,000 elements.
std::optional<XmlElement> parse_xml(std::string_view text);

}  // namespace redrive
