#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "dead_letter/features.h"
#include "dead_letter/json_path.h"

namespace redrive::dead_letter {

// What a filter may ask of a message. Empty texts other than the body: there is none.
struct Subject {
  std::string_view body;
  std::span<const AttributeView> attributes;
  std::string_view message_id;
  std::string_view lineage_id;
  std::string_view group_id;       // Of its failure group: GroupId::text().
  std::string_view message_group;  // MessageGroupId.
  std::string_view error_type;
  std::string_view error_message;
  std::string_view source_queue;
  Timestamp sent;
  std::uint64_t receive_count = 0;
  std::uint64_t redrive_count = 0;
};

// A choice of messages, for search and for redrive.
//
//   filter    := condition | "not" filter | filter "and" filter | filter "or" filter | "(" filter
//   ")" condition := operand comparison value | operand "missing" | operand "present" | operand
//   "is" type operand   := body | body.$path | $path | attribute.name | attribute["name"] |
//   message_id
//              | lineage | group | message_group | error.type | error.message | source
//              | sent | received | redriven | size
//   comparison := == != < <= > >= contains startswith like
//   value     := "text" or 'text' | number | true | false | null | 2026-01-31T10:00:00Z
//   type      := object | array | string | number | boolean | null, of JSON; "Number.int" of
//   attributes
//
// `not` binds closest, then `and`, then `or`. `like` knows * and ?. A path with [*] leads to
// several values, of which one has to fit. Numbers are compared with JSON numbers and with
// attributes that are numbers, texts with texts; what has another type, or is not there, is neither
// equal, nor less, nor greater. `!=` is true wherever `==` is not.
class Filter {
 public:
  static constexpr std::size_t kTextBytesMax = 4096;
  static constexpr std::size_t kConditionsMax = 64;
  static constexpr std::size_t kDepthMax = 32;  // Of parentheses and `not`.

  enum class Operand : std::uint8_t {
    body,
    body_path,
    attribute,
    message_id,
    lineage,
    group,
    message_group,
    error_type,
    error_message,
    source,
    sent,
    received,
    redriven,
    size,
  };
  enum class Operator : std::uint8_t {
    equal,
    less,
    less_equal,
    greater,
    greater_equal,
    contains,
    starts_with,
    like,
    is,
    present,
  };
  struct Null {};
  // A whole number is kept exact; others are real.
  using Literal = std::variant<Null, bool, std::int64_t, double, std::string, Timestamp>;

  struct Condition {
    Operand operand = Operand::body;
    JsonPath path;          // Of body_path,
    std::string attribute;  // of attribute.
    Operator op = Operator::present;
    bool negated = false;  // != and missing are what == and present are not.
    Literal literal;
  };

  // The message of a failure names the position, from 1, and what was expected there. Never throws,
  // whatever the text.
  static Result<Filter> parse(std::string_view text);

  // The body is parsed only if a condition that decides asks for it.
  bool matches(const Subject& subject) const;

  const std::string& text() const { return text_; }

 private:
  friend class FilterParser;
  friend class FilterMatch;

  struct Node {
    enum class Kind : std::uint8_t { condition, negation, conjunction, disjunction };

    Kind kind = Kind::condition;
    std::size_t left = 0;  // An index of nodes_, or of conditions_.
    std::size_t right = 0;
  };

  std::string text_;
  std::vector<Condition> conditions_;
  std::vector<Node> nodes_;  // Parts before the whole: the last one is the filter.
};

}  // namespace redrive::dead_letter
