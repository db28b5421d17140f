#include "functions/events/pattern_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/pattern.h"
#include "base/text.h"

namespace redrive::events {
namespace {

template <class T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// Integers are compared exactly; an integer and a fraction are compared as doubles.
template <class A, class B>
bool same_number(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    return std::cmp_equal(a, b);
  } else {
    return static_cast<double>(a) == static_cast<double>(b);
  }
}

std::optional<double> number_of(const Scalar& value) {
  return std::visit(
      [](const auto& held) -> std::optional<double> {
        if constexpr (kIsNumber<std::decay_t<decltype(held)>>) return static_cast<double>(held);
        return std::nullopt;
      },
      value);
}

// Matches the pieces in order, the first at the start, the last at the end. Matching each piece as
// early as possible never prevents a later match, so there is no backtracking.
bool match_pieces(const std::vector<std::string>& pieces, std::string_view text) {
  if (pieces.size() == 1) return text == pieces.front();
  if (!text.starts_with(pieces.front())) return false;
  text.remove_prefix(pieces.front().size());
  if (!text.ends_with(pieces.back())) return false;
  text.remove_suffix(pieces.back().size());
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
    const std::size_t at = find_text(text, pieces[i]);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + pieces[i].size());
  }
  return true;
}

bool obeys(const TextMatcher& matcher, std::string_view text) {
  switch (matcher.rule) {
    case TextRule::prefix:
      return text.starts_with(matcher.text);
    case TextRule::suffix:
      return text.ends_with(matcher.text);
    case TextRule::whole:
      return text == matcher.text;
    case TextRule::wildcard:
      return match_pieces(matcher.pieces, text);
  }
  return false;
}

// The part of the text that matters, to avoid folding a long text for a short prefix.
std::string_view relevant(const TextMatcher& matcher, std::string_view text) {
  if (matcher.rule == TextRule::prefix) return text.substr(0, matcher.text.size());
  if (matcher.rule == TextRule::suffix && text.size() > matcher.text.size())
    return text.substr(text.size() - matcher.text.size());
  return text;
}

// The size of an address in bytes; 0 if it is not an address.
std::uint8_t read_address(std::string_view text, std::array<std::uint8_t, 16>& out) {
  const std::string terminated(text.substr(0, INET6_ADDRSTRLEN));
  if (inet_pton(AF_INET, terminated.c_str(), out.data()) == 1) return 4;
  if (inet_pton(AF_INET6, terminated.c_str(), out.data()) == 1) return 16;
  return 0;
}

bool same_bits(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
  if (!std::equal(a, a + bits / 8, b)) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits % 8));
  return (a[bits / 8] & mask) == (b[bits / 8] & mask);
}

}  // namespace

std::optional<Scalar> scalar_of(simdjson::dom::element element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::STRING:
      return std::string_view(element);
    case Type::INT64:
      return std::int64_t(element);
    case Type::UINT64:
      return std::uint64_t(element);
    case Type::DOUBLE:
      return double(element);
    case Type::BOOL:
      return bool(element);
    case Type::NULL_VALUE:
      return nullptr;
    default:
      return std::nullopt;
  }
}

bool equals(const Literal& literal, const Scalar& value) {
  return std::visit(
      [](const auto& a, const auto& b) {
        using A = std::decay_t<decltype(a)>;
        using B = std::decay_t<decltype(b)>;
        if constexpr (kIsNumber<A> && kIsNumber<B>) {
          return same_number(a, b);
        } else if constexpr (std::is_same_v<A, std::string> &&
                             std::is_same_v<B, std::string_view>) {
          return a == b;
        } else if constexpr (std::is_same_v<A, B>) {
          return a == b;
        } else {
          return false;
        }
      },
      literal,
      value);
}

bool TextMatcher::matches(const Scalar& value) const {
  const auto* string = std::get_if<std::string_view>(&value);
  if (string == nullptr) return false;
  if (!ignore_case) return obeys(*this, *string);
  return obeys(*this, to_lower(relevant(*this, *string)));
}

bool NumericMatcher::matches(const Scalar& value) const {
  const auto number = number_of(value);
  if (!number) return false;
  if (lower && (*number < lower->value || (*number == lower->value && !lower->inclusive)))
    return false;
  return !upper || *number < upper->value || (*number == upper->value && upper->inclusive);
}

std::optional<CidrMatcher> CidrMatcher::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  CidrMatcher matcher;
  matcher.address_bytes = read_address(text.substr(0, slash), matcher.network);
  const auto bits = parse_int<std::uint8_t>(text.substr(slash + 1));
  if (matcher.address_bytes == 0 || !bits || *bits > matcher.address_bytes * 8) return std::nullopt;
  matcher.prefix_bits = *bits;
  return matcher;
}

bool CidrMatcher::matches(const Scalar& value) const {
  const auto* string = std::get_if<std::string_view>(&value);
  std::array<std::uint8_t, 16> address{};
  return string != nullptr && read_address(*string, address) == address_bytes &&
         same_bits(network.data(), address.data(), prefix_bits);
}

bool AnythingBut::matches(const Scalar& value) const {
  return std::ranges::none_of(literals, [&](const Literal& one) { return equals(one, value); }) &&
         std::ranges::none_of(texts, [&](const TextMatcher& one) { return one.matches(value); });
}

bool matches(const Alternative& alternative, const Scalar& value) {
  return std::visit(
      [&](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, Literal>) {
          return equals(one, value);
        } else if constexpr (std::is_same_v<One, Exists>) {
          return one.wanted;
        } else {
          return one.matches(value);
        }
      },
      alternative);
}

}  // namespace redrive::events
