#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letters/triage/json_pointer.h"

namespace redrive::triage {

// RFC 6902: changes to a JSON document, such as
//   [{"op":"test","path":"/currency","value":"EUR"},{"op":"add","path":"/store_id","value":7}]
//
// Atomic: all operations are applied or none. Untouched parts keep their bytes: numbers their
// digits, strings their escapes, objects their key order, and containers not entered by any pointer
// their whitespace. A pointer through a duplicate key is refused, because parsers differ on which
// one counts.
class JsonPatch {
 public:
  static constexpr std::size_t kTextBytesMax = 1u << 20;
  static constexpr std::size_t kOperationsMax = 256;
  // Before, between and after operations.
  static constexpr std::size_t kDocumentBytesMax = 1u << 20;
  static constexpr std::size_t kDepthMax = 128;
  // Limit for the bytes processed per document; a patch beyond it is refused rather than taking
  // seconds.
  static constexpr std::size_t kWorkBytesMax = 64u << 20;

  struct Operation {
    enum class Kind : std::uint8_t { add, remove, replace, move, copy, test };

    Kind kind = Kind::test;
    JsonPointer path;
    JsonPointer from;   // For move and copy.
    std::string value;  // For add, replace and test: JSON.
  };

  // Errors name the operation, from 1.
  static Result<JsonPatch> parse(std::string_view text);

  // The changed document, or an error that names the operation and the obstacle. Pure.
  Result<std::string> apply(std::string_view document) const;

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

}  // namespace redrive::triage
