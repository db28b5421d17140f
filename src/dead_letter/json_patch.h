#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letter/json_pointer.h"

namespace redrive::dead_letter {

// RFC 6902: how a JSON document is to be changed, such as
//   [{"op":"test","path":"/currency","value":"EUR"},{"op":"add","path":"/store_id","value":7}]
//
// All operations are done or none. What they do not touch keeps its bytes: numbers their digits,
// strings their escapes, objects the order of their keys, and containers that no pointer leads
// into their blanks. A pointer through a key that occurs twice is refused, because readers differ
// on which of the two counts.
class JsonPatch {
 public:
  static constexpr std::size_t kTextBytesMax = 1u << 20;
  static constexpr std::size_t kOperationsMax = 256;
  static constexpr std::size_t kDocumentBytesMax = 1u << 20;  // Before, between and after.
  static constexpr std::size_t kDepthMax = 128;
  // Bytes looked at for one document, after which a patch is refused rather than go on for seconds.
  static constexpr std::size_t kWorkBytesMax = 64u << 20;

  struct Operation {
    enum class Kind : std::uint8_t { add, remove, replace, move, copy, test };

    Kind kind = Kind::test;
    JsonPointer path;
    JsonPointer from;   // Of move and copy.
    std::string value;  // Of add, replace and test: JSON.
  };

  // The message of a failure names the operation, from 1.
  static Result<JsonPatch> parse(std::string_view text);

  // The changed document, or why not: which operation, and what stood in its way. Pure.
  Result<std::string> apply(std::string_view document) const;

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

}  // namespace redrive::dead_letter
