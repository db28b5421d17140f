#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "net/wire/type.h"

// How a struct declares its wire format. Next to the struct, in its namespace:
//
//   consteval auto shape_of(SendMessageInput*) {
//     using In = SendMessageInput;
//     return wire::shape(
//         wire::required("MessageBody", &In::message_body).filled(),
//         wire::optional("DelaySeconds", &In::delay_seconds).between(0, 900, "..."),
//         wire::optional("MessageAttributes", &In::message_attributes).each("MessageAttribute"));
//   }
//
// Decoders, encoders and checks walk kRecord<SendMessageInput>, which is generated from it.

namespace redrive::wire {

template <class Owner, class Value>
struct Member {
  std::string_view name;
  Value Owner::*place;
  Traits traits;

  // Values out of range fail with "Value <n> for parameter <name> is invalid. Reason: <reason>".
  consteval Member between(std::int64_t min, std::int64_t max, std::string_view reason) const {
    Member changed = *this;
    changed.traits.ranged = true;
    changed.traits.min = min;
    changed.traits.max = max;
    changed.traits.reason = reason;
    return changed;
  }
  // Query and XML flatten collections: <item>.1, <item>.2 and a repeated <item> element.
  consteval Member each(std::string_view item, std::string_view key = "Name",
                        std::string_view value = "Value") const {
    Member changed = *this;
    changed.traits.item_name = item;
    changed.traits.key_name = key;
    changed.traits.value_name = value;
    return changed;
  }
  // The collections of the older Query services, which are not flattened: <name>.member.1, and
  // <name><member>...</member></name>.
  consteval Member members() const {
    Member changed = each("member", "key", "value");
    changed.traits.wrapped = true;
    return changed;
  }
  // The items have an element of their own: <name><item>...</item></name>.
  consteval Member wrapped() const { return with(&Traits::wrapped); }
  consteval Member filled() const { return with(&Traits::filled); }
  consteval Member queue() const { return with(&Traits::queue); }
  consteval Member content() const { return with(&Traits::content); }
  consteval Member always() const { return with(&Traits::always); }
  consteval Member sensitive() const { return with(&Traits::sensitive); }

 private:
  consteval Member with(bool Traits::*trait) const {
    Member changed = *this;
    changed.traits.*trait = true;
    return changed;
  }
};

template <class Owner, class Value>
consteval auto required(std::string_view name, Value Owner::*place) {
  return Member<Owner, Value>{name, place, Traits{.required = true}};
}

template <class Owner, class Value>
consteval auto optional(std::string_view name, Value Owner::*place) {
  return Member<Owner, Value>{name, place, Traits{}};
}

namespace detail {

// The members of a shape. A std::tuple would do, but its constructors are templates that compile
// in time proportional to the square of the number of members: 15 % of a file with many shapes.
template <std::size_t I, class M>
struct Place {
  M member;
};
template <class Indices, class... Members>
struct Shape;
template <std::size_t... I, class... Members>
struct Shape<std::index_sequence<I...>, Members...> : Place<I, Members>... {
  static constexpr std::size_t kSize = sizeof...(Members);
};

template <std::size_t I, class M>
consteval const M& member_of(const Place<I, M>& place) {
  return place.member;
}

}  // namespace detail

template <class... Members>
consteval auto shape(Members... members) {
  static_assert(sizeof...(Members) <= 64, "a decoder notes the members it saw in 64 bits");
  return detail::Shape<std::index_sequence_for<Members...>, Members...>{{members}...};
}

// The members of all of them, for structs that have a base with a shape.
template <std::size_t... I, class... A, std::size_t... J, class... B>
consteval auto joined(const detail::Shape<std::index_sequence<I...>, A...>& a,
                      const detail::Shape<std::index_sequence<J...>, B...>& b) {
  return shape(detail::member_of<I>(a)..., detail::member_of<J>(b)...);
}
template <class A, class B, class... More>
consteval auto joined(const A& a, const B& b, const More&... more) requires(sizeof...(More) > 0) {
  return joined(joined(a, b), more...);
}

namespace detail {

template <class T>
struct RecordOf;  // Breaks the cycle: types refer to records and records to types.

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::vector<std::pair<std::string_view, T>>> = true;

template <class T>
struct BareOf {
  using type = T;
};
template <class T>
struct BareOf<std::optional<T>> {
  using type = T;
};
template <class T>
using Bare = typename BareOf<T>::type;

template <class T>
consteval Kind kind_of() {
  if constexpr (std::is_same_v<T, std::string_view>) return Kind::text;
  if constexpr (std::is_same_v<T, bool>) return Kind::flag;
  if constexpr (std::is_same_v<T, std::int32_t>) return Kind::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Kind::int64;
  if constexpr (std::is_same_v<T, double>) return Kind::number;
  if constexpr (std::is_same_v<T, Decimal>) return Kind::decimal;
  if constexpr (std::is_same_v<T, Timestamp>) return Kind::time;
  if constexpr (std::is_same_v<T, Uuid>) return Kind::uuid;
  if constexpr (std::is_same_v<T, Md5>) return Kind::md5;
  if constexpr (std::is_same_v<T, Blob>) return Kind::blob;
  if constexpr (is_optional<T>) return Kind::optional;
  if constexpr (is_map<T>) return Kind::map;
  if constexpr (is_list<T> && !is_map<T>) return Kind::list;
  return Kind::record;
}

template <class T>
void reset(void* value) {
  auto& typed = *static_cast<T*>(value);
  if constexpr (is_list<T>) {
    typed.clear();
  } else {
    typed = T{};
  }
}

template <class T>
consteval Type type_of();

}  // namespace detail

template <class T>
inline constexpr Type kType = detail::type_of<T>();

namespace detail {

template <class T>
consteval void add_optional_operations(Type& type) {
  type.inner = &kType<typename T::value_type>;
  type.engage = [](void* value) -> void* { return &static_cast<T*>(value)->emplace(); };
  type.held = [](const void* value) -> const void* {
    const auto& typed = *static_cast<const T*>(value);
    return typed ? &*typed : nullptr;
  };
}

// A full batch: growing step by step would move its first entries four times.
inline constexpr std::size_t kUsualItems = 10;

template <class T>
consteval void add_list_operations(Type& type) {
  type.inner = &kType<typename T::value_type>;
  type.item = [](const void* items, std::size_t index) -> const void* {
    return &(*static_cast<const T*>(items))[index];
  };
  type.append = [](void* items) -> void* {
    auto& typed = *static_cast<T*>(items);
    if (typed.capacity() == 0) typed.reserve(kUsualItems);
    return &typed.emplace_back();
  };
}

template <class T>
consteval void add_map_operations(Type& type) {
  using Value = typename T::value_type::second_type;
  type.inner = &kType<Value>;
  type.item = [](const void* items, std::size_t index) -> const void* {
    return &(*static_cast<const T*>(items))[index].second;
  };
  type.key = [](const void* items, std::size_t index) {
    return (*static_cast<const T*>(items))[index].first;
  };
  type.place = [](void* items, std::string_view key) -> void* {
    auto& typed = *static_cast<T*>(items);
    const auto found = std::ranges::find(typed, key, &T::value_type::first);
    if (found == typed.end()) return &typed.emplace_back(key, Value{}).second;
    found->second = Value{};
    return &found->second;
  };
}

template <class T>
consteval Type type_of() {
  Type type{.kind = kind_of<T>(), .reset = &reset<T>};
  if constexpr (is_optional<T>) add_optional_operations<T>(type);
  if constexpr (is_list<T>) {
    type.size = [](const void* items) { return static_cast<const T*>(items)->size(); };
  }
  if constexpr (is_map<T>) {
    add_map_operations<T>(type);
  } else if constexpr (is_list<T>) {
    add_list_operations<T>(type);
  }
  if constexpr (kind_of<T>() == Kind::record) type.record = &RecordOf<T>::kValue;
  return type;
}

template <class T>
inline constexpr auto kShape = shape_of(static_cast<T*>(nullptr));

template <class T, std::size_t I>
inline constexpr auto kMember = member_of<I>(kShape<T>);

template <class T, std::size_t I>
void* place_in(void* record) {
  return &(static_cast<T*>(record)->*kMember<T, I>.place);
}

template <class T, std::size_t I>
consteval Field field_of() {
  using Value = std::remove_cvref_t<decltype(std::declval<T&>().*kMember<T, I>.place)>;
  static_assert(!is_list<Value> || !kMember<T, I>.traits.item_name.empty(),
                "a collection says with each() what Query and XML call one item");
  static_assert(!std::is_same_v<Bare<Value>, double> || !kMember<T, I>.traits.ranged,
                "between() compares integers");
  static_assert(is_list<Value> || !kMember<T, I>.traits.always, "always() is for collections");
  static_assert(!is_list<Bare<Value>> || is_list<Value>, "an empty collection is an absent one");
  return Field{
      .name = kMember<T, I>.name,
      .type = &kType<Value>,
      .traits = kMember<T, I>.traits,
      .in = &place_in<T, I>,
  };
}

template <class T>
inline constexpr auto kFields = []<std::size_t... I>(std::index_sequence<I...>) consteval {
  return std::array<Field, sizeof...(I)>{field_of<T, I>()...};
}
(std::make_index_sequence<decltype(kShape<T>)::kSize>());

template <class T>
void reset_members(void* record) {
  [record]<std::size_t... I>(std::index_sequence<I...>) {
    (reset<std::remove_cvref_t<decltype(std::declval<T&>().*kMember<T, I>.place)>>(
         &(static_cast<T*>(record)->*kMember<T, I>.place)),
     ...);
  }
  (std::make_index_sequence<decltype(kShape<T>)::kSize>());
}

template <class T>
struct RecordOf {
  static constexpr Record kValue{kFields<T>, &reset_members<T>};
};

}  // namespace detail

// The table that codecs walk for T.
template <class T>
inline constexpr const Record& kRecord = detail::RecordOf<T>::kValue;

}  // namespace redrive::wire
