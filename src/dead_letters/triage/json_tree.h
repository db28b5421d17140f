#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letters/triage/json_scan.h"

namespace redrive::triage {

struct JsonMember;

// A value in a valid JSON text, parsed lazily: untouched parts are slices of the original text and
// are written back byte for byte. The text must outlive it.
class JsonNode {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, word };

  // `text` is one value without surrounding blanks.
  explicit JsonNode(std::string_view text);

  Kind kind() const { return kind_; }
  bool is_container() const { return kind_ == Kind::object || kind_ == Kind::array; }

  // The members of a container, in order. `scanned` grows by the work done, in bytes.
  std::vector<JsonMember>& open(std::size_t& scanned);

  void write(std::string& out) const;
  // Of what write() would produce.
  JsonExtent extent(std::size_t& scanned) const;

 private:
  std::string_view text_;
  Kind kind_;
  bool opened_ = false;
  std::vector<JsonMember> members_;
};

struct JsonMember {
  std::string key;  // Raw, with quotes; empty in an array.
  JsonNode value;
};

// Compares JSON values: numbers by value, strings by characters, objects regardless of key order. A
// duplicate key equals nothing. Opens both.
bool same_json(JsonNode& a, JsonNode& b, std::size_t& scanned);

}  // namespace redrive::triage
