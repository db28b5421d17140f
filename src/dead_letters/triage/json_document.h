#pragma once

#include <simdjson.h>

#include <memory>
#include <string_view>

namespace redrive::triage {

// Larger bodies are parsed only on request for a single message.
inline constexpr std::size_t kSmallJsonBytes = 64 * 1024;

// A text parsed as JSON, or found not to be JSON.
//
// Small texts share the thread's parser, so that parsing does not allocate: at most one document
// per thread may be alive at a time. Large ones have their own parser, freed afterwards.
class JsonDocument {
 public:
  explicit JsonDocument(std::string_view text);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  bool is_json() const { return is_json_; }
  simdjson::dom::element root() const { return root_; }

 private:
  std::unique_ptr<simdjson::dom::parser> own_;
  simdjson::dom::element root_;
  bool is_json_ = false;
};

}  // namespace redrive::triage
