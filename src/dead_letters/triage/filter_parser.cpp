#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/calendar.h"
#include "base/text.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/triage/quoted.h"

namespace redrive::triage {

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : text_(text) {}

  Result<Filter> parse() {
    if (text_.size() > Filter::kTextBytesMax) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("A filter can have at most {} bytes.", Filter::kTextBytesMax));
    }
    RETURN_IF_ERROR(disjunction());
    skip_space();
    if (at_ != text_.size()) return expected("\"and\", \"or\" or the end");
    filter_.text_ = text_;
    return std::move(filter_);
  }

 private:
  using Node = Filter::Node;
  using Operand = Filter::Operand;
  using Operator = Filter::Operator;

  std::unexpected<Error> expected(std::string_view what) const {
    const std::string_view found = text_.substr(at_, std::max<std::size_t>(word_size(), 1));
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("At position {}: expected {}, found {}.",
                            at_ + 1,
                            what,
                            found.empty() ? "the end" : fmt::format("\"{}\"", found)));
  }

  void skip_space() { at_ += run(text_, at_, is_space); }

  std::size_t word_size() const { return run(text_, at_, is_word); }

  // Consumes the word if it is next.
  bool word(std::string_view word) {
    skip_space();
    if (!iequals(text_.substr(at_, word_size()), word)) return false;
    at_ += word.size();
    return true;
  }

  bool symbol(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  std::size_t last() const { return filter_.nodes_.size() - 1; }

  Result<void> disjunction() {
    RETURN_IF_ERROR(conjunction());
    while (word("or")) {
      const std::size_t left = last();
      RETURN_IF_ERROR(conjunction());
      filter_.nodes_.push_back({Node::Kind::disjunction, left, last()});
    }
    return {};
  }

  Result<void> conjunction() {
    RETURN_IF_ERROR(negation());
    while (word("and")) {
      const std::size_t left = last();
      RETURN_IF_ERROR(negation());
      filter_.nodes_.push_back({Node::Kind::conjunction, left, last()});
    }
    return {};
  }

  Result<void> negation() {
    if (depth_ == Filter::kDepthMax) return expected("a filter that is nested less deeply");
    ++depth_;
    if (word("not")) {
      RETURN_IF_ERROR(negation());
      filter_.nodes_.push_back({Node::Kind::negation, last()});
    } else if (symbol("(")) {
      RETURN_IF_ERROR(disjunction());
      if (!symbol(")")) return expected("\")\"");
    } else {
      RETURN_IF_ERROR(condition());
    }
    --depth_;
    return {};
  }

  Result<void> condition() {
    if (filter_.conditions_.size() == Filter::kConditionsMax) return expected("fewer conditions");
    Filter::Condition condition;
    RETURN_IF_ERROR(operand(condition));
    RETURN_IF_ERROR(comparison(condition));
    filter_.nodes_.push_back({Node::Kind::condition, filter_.conditions_.size()});
    filter_.conditions_.push_back(std::move(condition));
    return {};
  }

  Result<void> operand(Filter::Condition& condition) {
    skip_space();
    if (symbol("body.$") || symbol("$")) {
      --at_;
      condition.operand = Operand::body_path;
      condition.path = TRY(JsonPath::parse_prefix(text_, at_));
      return {};
    }
    if (word("attribute")) return attribute(condition);
    if (word("error")) return error_part(condition);
    struct Name {
      std::string_view name;
      Operand operand;
    };
    constexpr auto kNames = std::to_array<Name>({
        {"body", Operand::body},
        {"message_id", Operand::message_id},
        {"lineage", Operand::lineage},
        {"group", Operand::group},
        {"message_group", Operand::message_group},
        {"source", Operand::source},
        {"sent", Operand::sent},
        {"received", Operand::received},
        {"redriven", Operand::redriven},
        {"size", Operand::size},
    });
    for (const Name& name : kNames) {
      if (!word(name.name)) continue;
      condition.operand = name.operand;
      return {};
    }
    return expected(
        "body, body.$path, attribute.name, error.type, error.message, message_id, "
        "lineage, group, message_group, source, sent, received, redriven or size");
  }

  Result<void> attribute(Filter::Condition& condition) {
    condition.operand = Operand::attribute;
    if (at_ < text_.size() && text_[at_] == '[') {
      ++at_;
      if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
        return expected("the attribute's name in quotes");
      }
      condition.attribute = TRY(read_quoted(text_, at_));
      if (!symbol("]")) return expected("\"]\"");
      return {};
    }
    if (at_ >= text_.size() || text_[at_] != '.') return expected("\".\" and the attribute's name");
    ++at_;
    const std::size_t size =
        run(text_, at_, [](char c) { return is_word(c) || c == '.' || c == '-'; });
    if (size == 0) return expected("the attribute's name");
    condition.attribute = text_.substr(at_, size);
    at_ += size;
    return {};
  }

  Result<void> error_part(Filter::Condition& condition) {
    if (at_ < text_.size() && text_[at_] == '.') ++at_;
    if (word("type")) {
      condition.operand = Operand::error_type;
    } else if (word("message")) {
      condition.operand = Operand::error_message;
    } else {
      return expected("error.type or error.message");
    }
    return {};
  }

  Result<void> comparison(Filter::Condition& condition) {
    RETURN_IF_ERROR(comparison_operator(condition));
    switch (condition.op) {
      case Operator::present:
        return {};
      case Operator::is:
        return type(condition);
      case Operator::contains:
      case Operator::starts_with:
      case Operator::like:
        skip_space();
        condition.literal = TRY(quoted("a text in quotes"));
        return check_text_operand(condition);
      default:
        return value(condition);
    }
  }

  Result<void> comparison_operator(Filter::Condition& condition) {
    struct Name {
      std::string_view name;
      Operator op;
      bool negated = false;
    };
    constexpr auto kWords = std::to_array<Name>({
        {"missing", Operator::present, true},
        {"present", Operator::present},
        {"is", Operator::is},
        {"contains", Operator::contains},
        {"startswith", Operator::starts_with},
        {"like", Operator::like},
    });
    constexpr auto kSymbols = std::to_array<Name>({
        {"==", Operator::equal},
        {"!=", Operator::equal, true},
        {"<=", Operator::less_equal},
        {">=", Operator::greater_equal},
        {"<", Operator::less},
        {">", Operator::greater},
    });
    const auto take = [&](const Name& name) {
      condition.op = name.op;
      condition.negated = name.negated;
      return Result<void>();
    };
    for (const Name& name : kWords) {
      if (word(name.name)) return take(name);
    }
    for (const Name& name : kSymbols) {
      if (symbol(name.name)) return take(name);
    }
    return expected("==, !=, <, <=, >, >=, contains, startswith, like, is, missing or present");
  }

  Result<std::string> quoted(std::string_view what) {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return expected(what);
    return read_quoted(text_, at_);
  }

  static bool is_number(Operand operand) {
    return operand == Operand::received || operand == Operand::redriven || operand == Operand::size;
  }

  Result<void> check_text_operand(const Filter::Condition& condition) const {
    if (!is_number(condition.operand) && condition.operand != Operand::sent) return {};
    return expected("a comparison that numbers and times have");
  }

  Result<void> type(Filter::Condition& condition) {
    skip_space();
    if (condition.operand == Operand::attribute) {
      condition.literal = TRY(quoted("the attribute's type in quotes"));
      return {};
    }
    if (condition.operand != Operand::body_path)
      return expected("a path or an attribute before is");
    for (const std::string_view name : {"object", "array", "string", "number", "boolean", "null"}) {
      if (!word(name)) continue;
      condition.literal = std::string(name);
      return {};
    }
    return expected("object, array, string, number, boolean or null");
  }

  Result<void> value(Filter::Condition& condition) {
    skip_space();
    if (condition.operand == Operand::sent) return time(condition);
    if (is_number(condition.operand)) return number(condition, "a number");
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      condition.literal = TRY(read_quoted(text_, at_));
      return {};
    }
    const bool json = condition.operand == Operand::body_path;
    if (json && word("true")) {
      condition.literal = true;
    } else if (json && word("false")) {
      condition.literal = false;
    } else if (json && word("null")) {
      condition.literal = Filter::Null();
    } else if (json) {
      return number(condition, "a text in quotes, a number, true, false or null");
    } else if (condition.operand == Operand::attribute) {
      return number(condition, "a text in quotes or a number");
    } else {
      return expected("a text in quotes");
    }
    return {};
  }

  // The text up to the end of an unquoted value.
  std::string_view bare() const {
    return text_.substr(at_, run(text_, at_, [](char c) {
                          return !is_space(c) && c != '(' && c != ')' && c != '"' && c != '\'';
                        }));
  }

  Result<void> number(Filter::Condition& condition, std::string_view what) {
    const std::string_view digits = bare();
    if (const auto integer = parse_int<std::int64_t>(digits)) {
      condition.literal = *integer;
    } else {
      double real = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
      const bool whole = error == std::errc() && end == digits.data() + digits.size();
      if (!whole || !std::isfinite(real)) return expected(what);
      condition.literal = real;
    }
    at_ += digits.size();
    return {};
  }

  // Quoted or not: 2026-01-31T10:00:00Z, or only the day.
  Result<void> time(Filter::Condition& condition) {
    const std::size_t begin = at_;
    const bool in_quotes = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    std::string text(in_quotes ? TRY(read_quoted(text_, at_)) : std::string(bare()));
    if (!in_quotes) at_ += text.size();
    constexpr std::size_t kDayBytes = 10;
    if (text.size() == kDayBytes) text += "T00:00:00Z";
    const auto time = parse_utc(text);
    if (!time) {
      at_ = begin;
      return expected("a time such as 2026-01-31T10:00:00Z");
    }
    condition.literal = *time;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  Filter filter_;
};

Result<Filter> Filter::parse(std::string_view text) {
  return FilterParser(text).parse();
}

}  // namespace redrive::triage
