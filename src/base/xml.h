#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive {

// An XML element. Attributes and namespace prefixes are ignored.
struct XmlElement {
  std::string name;
  std::string text;  // All of its own text, concatenated.
  std::vector<XmlElement> children;

  // The first child with this name, or nullptr.
  const XmlElement* find(std::string_view child) const;
  // The text of that child; empty if there is none.
  std::string_view text_of(std::string_view child) const;
};

// Parses a document as written by S3 and its clients: elements, text, the five named entities and
// character references, CDATA, comments. nullopt if it is malformed, is not UTF-8, has a DOCTYPE,
// is nested deeper than 32 levels or has more than 100,000 elements.
std::optional<XmlElement> parse_xml(std::string_view text);

}  // namespace redrive
