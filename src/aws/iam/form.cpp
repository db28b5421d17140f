#include "aws/iam/form.h"

#include <fmt/format.h>

#include "base/result.h"
#include "base/text.h"
#include "net/wire/encode.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kParametersMax = 2'000;
constexpr std::size_t kTagsMax = 50;
constexpr std::size_t kTagKeyMax = 128;
constexpr std::size_t kTagValueMax = 256;
constexpr std::size_t kAuditedValueBytes = 4'096;

}  // namespace

Outcome<Form> Form::parse(std::string_view query, std::string_view body) {
  Form form;
  for (const std::string_view part : {query, body}) {
    for (const std::string_view field : split(part, '&')) {
      if (field.empty()) continue;
      const std::size_t equals = field.find('=');
      const auto value = equals == field.npos ? std::string_view() : field.substr(equals + 1);
      form.values_[percent_decode(field.substr(0, equals), true)] = percent_decode(value, true);
      if (form.values_.size() > kParametersMax) {
        return refuse(400, "MalformedQueryString", "The request has too many parameters.");
      }
    }
  }
  for (const auto& [name, value] : form.values_) {
    if (is_utf8(name) && is_utf8(value)) continue;
    return refuse(400, "MalformedQueryString", "The request is not encoded in UTF-8.");
  }
  return form;
}

std::optional<std::string_view> Form::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string_view Form::text(std::string_view name) const {
  return find(name).value_or(std::string_view());
}

Outcome<std::string> Form::required(std::string_view name) const {
  const std::string_view value = text(name);
  if (!value.empty()) return std::string(value);
  return refuse(
      400, "ValidationError", fmt::format("The request must contain the parameter {}.", name));
}

Outcome<std::int64_t> Form::number(std::string_view name, std::int64_t otherwise, std::int64_t min,
                                   std::int64_t max) const {
  const std::string_view value = text(name);
  if (value.empty()) return otherwise;
  const auto number = parse_int<std::int64_t>(value);
  if (number && *number >= min && *number <= max) return *number;
  return refuse(400,
                "ValidationError",
                fmt::format("{} must be a number between {} and {}.", name, min, max));
}

Outcome<Tags> Form::tags() const {
  Tags tags;
  for (std::size_t i = 1;; ++i) {
    const auto key = find(fmt::format("Tags.member.{}.Key", i));
    if (!key) return tags;
    const std::string_view value = text(fmt::format("Tags.member.{}.Value", i));
    if (key->empty() || key->size() > kTagKeyMax || value.size() > kTagValueMax) {
      return refuse(400,
                    "ValidationError",
                    "A tag has a key of 1 to 128 and a value of up to 256 characters.");
    }
    tags[std::string(*key)] = value;
    if (tags.size() > kTagsMax) {
      return refuse(409, "LimitExceeded", "At most 50 tags are allowed.");
    }
  }
}

std::vector<std::string> Form::list(std::string_view name) const {
  std::vector<std::string> items;
  while (const auto item = find(fmt::format("{}.member.{}", name, items.size() + 1))) {
    items.emplace_back(*item);
  }
  return items;
}

std::string Form::json() const {
  std::string out = "{";
  for (std::string_view separator; const auto& [name, value] : values_) {
    out += separator;
    wire::append_json_text(out, name);
    out += ':';
    wire::append_json_text(out,
                           is_utf8(value.substr(0, kAuditedValueBytes))
                               ? value.substr(0, kAuditedValueBytes)
                               : "(too long)");
    separator = ",";
  }
  return out += '}';
}

}  // namespace redrive::iam
