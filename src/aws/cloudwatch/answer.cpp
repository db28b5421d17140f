#include "aws/cloudwatch/answer.h"

#include <fmt/format.h>

#include <type_traits>

#include "base/calendar.h"
#include "net/wire/encode.h"

namespace redrive::cloudwatch {
namespace {

// 0.0 and not 0: what is a double is seen to be one.
std::string number_text(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

void element(std::string& out, std::string_view name, const Value& value) {
  fmt::format_to(std::back_inserter(out), "<{}>", name);
  value.write_xml(out);
  fmt::format_to(std::back_inserter(out), "</{}>", name);
}

}  // namespace

Value& Value::set(std::string_view name, Value value) {
  std::get<Object>(held_).push_back({name, std::move(value)});
  return *this;
}

bool Value::is_empty_object() const {
  const auto* const object = std::get_if<Object>(&held_);
  return object != nullptr && object->empty();
}

void Value::write_xml(std::string& out) const {
  std::visit(
      [&](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Object>) {
          for (const Field& field : held) element(out, field.name, field.value);
        } else if constexpr (std::is_same_v<Held, List>) {
          for (const Value& item : held) element(out, "member", item);
        } else if constexpr (std::is_same_v<Held, Map>) {
          for (const auto& [key, number] : held) {
            element(out, "entry", Value().set("key", key).set("value", number));
          }
        } else if constexpr (std::is_same_v<Held, std::string>) {
          wire::append_xml_text(out, held);
        } else if constexpr (std::is_same_v<Held, double>) {
          out += number_text(held);
        } else if constexpr (std::is_same_v<Held, Timestamp>) {
          out += format_utc(held);
        } else {
          fmt::format_to(std::back_inserter(out), "{}", held);
        }
      },
      held_);
}

void Value::write_json(std::string& out) const {
  std::visit(
      [&](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Object>) {
          out += '{';
          for (const Field& field : held) {
            if (&field != &held.front()) out += ',';
            wire::append_json_text(out, field.name);
            out += ':';
            field.value.write_json(out);
          }
          out += '}';
        } else if constexpr (std::is_same_v<Held, List>) {
          out += '[';
          for (const Value& item : held) {
            if (&item != &held.front()) out += ',';
            item.write_json(out);
          }
          out += ']';
        } else if constexpr (std::is_same_v<Held, Map>) {
          out += '{';
          for (const auto& [key, number] : held) {
            if (&key != &held.front().first) out += ',';
            wire::append_json_text(out, key);
            out.append(":").append(number_text(number));
          }
          out += '}';
        } else if constexpr (std::is_same_v<Held, std::string>) {
          wire::append_json_text(out, held);
        } else if constexpr (std::is_same_v<Held, double>) {
          out += number_text(held);
        } else if constexpr (std::is_same_v<Held, Timestamp>) {
          fmt::format_to(std::back_inserter(out), "{}.{:03}", held.ms() / 1000, held.ms() % 1000);
        } else {
          fmt::format_to(std::back_inserter(out), "{}", held);
        }
      },
      held_);
}

}  // namespace redrive::cloudwatch
