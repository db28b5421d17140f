#pragma once

#include <simdjson.h>

#include <memory>
#include <string_view>

namespace redrive::dead_letter {

// Larger bodies are parsed only where somebody asked about this one message.
inline constexpr std::size_t kSmallJsonBytes = 64 * 1024;

// A text read as JSON, or found not to be JSON.
//
// Small texts share a parser of the thread, so that reading one allocates nothing: at most one
// document of a thread is alive at a time. Large ones bring their own and give it back.
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

}  // namespace redrive::dead_letter
