#include "stack/topology_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace redrive::stack {
namespace {

// The value for the API; nullopt if it has another type.
std::optional<Node> converted(const Node& value, Form form) {
  switch (form) {
    case Form::text:
      if (value.is_text()) return value;
      break;
    case Form::number:
      if (value.kind() == Node::Kind::number) return value;
      break;
    case Form::seconds:
      if (const auto seconds = seconds_of(value)) return Node::number(*seconds);
      break;
    case Form::flag:
      if (value.kind() == Node::Kind::flag) return value;
      break;
    case Form::map:
      if (value.is_map() || value.is_text()) return value;
      break;
    case Form::list:
      if (value.is_list() || value.is_text()) return value;
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> seconds_of(const Node& value) {
  if (value.kind() == Node::Kind::number) return value.integer();
  if (!value.is_text() || value.scalar().size() < 2) return std::nullopt;
  const std::string_view text = value.scalar();
  const auto count = parse_int<std::int64_t>(text.substr(0, text.size() - 1));
  if (!count || *count > 100'000'000) return std::nullopt;
  switch (text.back()) {
    case 's':
      return *count;
    case 'm':
      return *count * 60;
    case 'h':
      return *count * 3600;
    case 'd':
      return *count * 86400;
    default:
      return std::nullopt;
  }
}

Result<Node> members_of(const Node& table, std::span<const Setting> settings,
                        std::string_view where) {
  Node members = Node::map();
  for (const auto& [name, value] : table.members()) {
    const auto setting = std::ranges::find(settings, name, &Setting::name);
    if (setting == settings.end())
      return fail(ErrorCode::usage, fmt::format("{} has no setting {}", where, name));
    auto given = converted(value, setting->form);
    if (!given)
      return fail(ErrorCode::usage,
                  fmt::format("{}: invalid value of {}: {}", where, name, value.json()));
    if (!setting->member.empty()) members.set(setting->member, *std::move(given));
  }
  return members;
}

}  // namespace redrive::stack
