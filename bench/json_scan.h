#pragma once

#include <optional>
#include <string_view>

namespace redrive::bench {

// Finds the values of one member anywhere in a document: just enough JSON to keep the load
// generator cheaper than what it measures. A value is returned raw, with its escapes, and can be
// pasted into another document.
class JsonTexts {
 public:
  // `quoted_name` includes the quotes: "\"ReceiptHandle\"".
  JsonTexts(std::string_view document, std::string_view quoted_name)
      : rest_(document), quoted_name_(quoted_name) {}

  std::optional<std::string_view> next();

 private:
  std::string_view rest_;
  std::string_view quoted_name_;
};

}  // namespace redrive::bench
