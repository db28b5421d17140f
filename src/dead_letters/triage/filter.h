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
#include "dead_letters/triage/features.h"
#include "dead_letters/triage/json_path.h"

namespace redrive::triage {

// The properties of a message that a filter can test. Empty texts other than the body: absent.
struct Subject {
  std::string_view body;
  std::span<const AttributeView> attributes;
  std::string_view message_id;
  std::string_view lineage_id;
  std::string_view group_id;       // Failure group: GroupId::text().
  std::string_view message_group;  // MessageGroupId.
  std::string_view error_type;
  std::string_view error_message;
  std::string_view source_queue;
  Timestamp sent;
  std::uint64_t receive_count = 0;
  std::uint64_t redrive_count = 0;
};

// An expression that selects messages, for search and for redrive.
//
//   filter     := condition | "not" filter | "(" filter ")"
//               | filter "and" filter | filter "or" filter
//   condition  := operand comparison value | operand "missing" | operand "present"
//               | operand "is" type
//   operand    := body | body.$path | $path | attribute.name | attribute["name"]
//               | message_id | lineage | group | message_group
//               | error.type | error.message | source | sent | received | redriven | size
//   comparison := == != < <= > >= contains startswith like
//   value      := "text" or 'text' | number | true | false | null | 2026-01-31T10:00:00Z
//   type       := object | array | string | number | boolean | null, for JSON;
//                 "Number.int" for attributes
//
// `not` binds tightest, then `and`, then `or`. `like` supports * and ?. A path with [*] yields
// several values, one of which has to match. Numbers are compared with JSON numbers and with
// numeric attributes, texts with texts; a missing value or one of another type is neither equal,
// nor less, nor greater. `!=` is the negation of `==`.
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
  // Integers are kept exactly; other numbers are real.
  using Literal = std::variant<Null, bool, std::int64_t, double, std::string, Timestamp>;

  struct Condition {
    Operand operand = Operand::body;
    JsonPath path;          // For body_path,
    std::string attribute;  // for attribute.
    Operator op = Operator::present;
    bool negated = false;  // != negates ==, missing negates present.
    Literal literal;
  };

  // Errors name the position, from 1, and what was expected there. Never throws, for any text.
  static Result<Filter> parse(std::string_view text);

  // The body is parsed only if the result depends on it.
  bool matches(const Subject& subject) const;

  const std::string& text() const { return text_; }

 private:
  friend class FilterParser;
  friend class FilterMatch;

  struct Node {
    enum class Kind : std::uint8_t { condition, negation, conjunction, disjunction };

    Kind kind = Kind::condition;
    std::size_t left = 0;  // Index into nodes_ or conditions_.
    std::size_t right = 0;
  };

  std::string text_;
  std::vector<Condition> conditions_;
  std::vector<Node> nodes_;  // Children before parents: the last one is the root.
};

}  // namespace redrive::triage
