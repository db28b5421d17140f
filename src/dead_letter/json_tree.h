#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letter/json_scan.h"

namespace redrive::dead_letter {

struct JsonMember;

// A value inside a valid JSON text, taken apart only where somebody goes into it: what nobody
// touched is a piece of the text it came from, and is written back byte for byte. The text must
// outlive it.
class JsonNode {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, word };

  // `text` is one value without blanks around it.
  explicit JsonNode(std::string_view text);

  Kind kind() const { return kind_; }
  bool is_container() const { return kind_ == Kind::object || kind_ == Kind::array; }

  // Of a container: its members in their order. `scanned` grows by the work it took, in
  // bytes read.
  std::vector<JsonMember>& open(std::size_t& scanned);

  void write(std::string& out) const;
  // Of what write() would write.
  JsonExtent extent(std::size_t& scanned) const;

 private:
  std::string_view text_;
  Kind kind_;
  bool opened_ = false;
  std::vector<JsonMember> members_;
};

struct JsonMember {
  std::string key;  // As it is written, in its quotes; empty in an array.
  JsonNode value;
};

// Equal as JSON values: numbers by their value, strings by their characters, objects whatever the
// order of their keys. A key that occurs twice equals nothing. Takes both apart.
bool same_json(JsonNode& a, JsonNode& b, std::size_t& scanned);

}  // namespace redrive::dead_letter
