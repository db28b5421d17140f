#pragma once

#include <optional>
#include <string_view>

namespace redrive::bench {

// Walks the values of one member, wherever in a document it occurs: just enough JSON to keep the
// generator cheaper than what it measures. A value is handed out as it stands, escapes and all,
// and can be pasted into another document.
class JsonTexts {
 public:
  // `quoted_name` with its quotes: "\"ReceiptHandle\"".
  JsonTexts(std::string_view document, std::string_view quoted_name)
      : rest_(document), quoted_name_(quoted_name) {}

  std::optional<std::string_view> next();

 private:
  std::string_view rest_;
  std::string_view quoted_name_;
};

}  // namespace redrive::bench
