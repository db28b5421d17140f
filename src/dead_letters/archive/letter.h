#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::archive {

struct LetterAttribute {
  std::string name;
  std::string data_type;  // String, Number or Binary, with an optional label after a dot.
  std::string value;      // For Binary the raw bytes.

  bool is_binary() const { return data_type == "Binary" || data_type.starts_with("Binary."); }
  bool operator==(const LetterAttribute&) const = default;
};

// A message as it was received from a dead-letter queue.
struct Letter {
  std::string message_id;
  std::string body;
  std::vector<LetterAttribute> attributes;
  std::vector<std::pair<std::string, std::string>> system_attributes;

  const LetterAttribute* attribute(std::string_view name) const;
  // Empty if there is none.
  std::string_view system_attribute(std::string_view name) const;

  // As counted by SQS: the body, and the name, type and value of each attribute.
  std::size_t size() const;

  bool operator==(const Letter&) const = default;
};

}  // namespace redrive::archive
