#include "dead_letters/triage/message_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/digest.h"
#include "dead_letters/triage/features.h"
#include "dead_letters/triage/filter_text.h"
#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/secrets.h"
#include "dead_letters/triage/text_pattern.h"

namespace redrive::triage {
namespace {

namespace dom = simdjson::dom;

// Not secret: hashes only have to be the same in every run.
constexpr std::array<std::uint8_t, 16> kHashKey = {
    'd', 'e', 'a', 'd', '-', 'l', 'e', 't', 't', 'e', 'r', '-', 'r', 'o', 'w', '1'};

std::optional<double> finite_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

class RowReader {
 public:
  explicit RowReader(RowNames* names) : names_(names) {}

  void delivery(const MessageContext& context) {
    text_fact(kConsumerPlace, context.consumer);
    text_fact(kHostPlace, context.host);
    text_fact(kVersionPlace, context.code_version);
    if (context.sent == Timestamp()) return;
    number_fact(kSentPlace, static_cast<double>(context.sent.ms()));
    constexpr std::int64_t kDaySeconds = 86'400;
    constexpr std::int64_t kHourSeconds = 3'600;
    number_fact(kHourPlace,
                static_cast<double>(context.sent.seconds() % kDaySeconds / kHourSeconds));
    if (!context.first_attempt || *context.first_attempt < context.sent) return;
    const Duration age = *context.first_attempt - context.sent;
    number_fact(kAgePlace, static_cast<double>(age.count()) / 1000);
  }

  void attribute(const AttributeView& attribute) {
    const PathHash path = path_hash(attributes_, attribute.name);
    if (is_unnamed(path)) {
      names_->add_path(path,
                       {fmt::format("attribute {}", attribute.name),
                        fmt::format("attribute.{}", attribute.name),
                        {"attribute", std::string(attribute.name)}});
    }
    const bool hidden = attribute.data_type.starts_with("Binary") || is_secret_name(attribute.name);
    if (hidden) return add({.path = path, .type = JsonType::object});
    if (attribute.data_type.starts_with("Number")) {
      if (const auto number = finite_number(attribute.value)) return add_number(path, *number);
    }
    add_text(path, attribute.value);
  }

  // Recursion depth is at most JsonFields::kDepthMax objects and as many arrays.
  void value(PathHash path, dom::element element, int depth, bool secret) {
    switch (element.type()) {
      case dom::element_type::OBJECT:
        add({.path = path, .type = JsonType::object});
        return members(path, element.get_object().value_unsafe(), depth, secret);
      case dom::element_type::ARRAY:
        return items(path, element.get_array().value_unsafe(), depth, secret);
      default:
        return scalar(path, element, secret);
    }
  }

  PathHash body_path() {
    if (is_unnamed(body_)) names_->add_path(body_, {"", "body.$", {"body"}});
    return body_;
  }

  Row take(bool body_read) {
    std::ranges::sort(row_.entries, comes_before);
    const auto rest = std::ranges::unique(row_.entries);
    row_.entries.erase(rest.begin(), rest.end());
    row_.entries.shrink_to_fit();
    row_.body_read = body_read;
    return std::move(row_);
  }

 private:
  void add(const RowEntry& entry) {
    if (row_.entries.size() >= Row::kEntriesMax) {
      row_.cut = true;
    } else {
      row_.entries.push_back(entry);
    }
  }

  void add_number(PathHash path, double number) {
    // Normalise -0.0 to 0.
    add({.value = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number),
         .path = path,
         .type = JsonType::number});
  }

  void add_text(PathHash path, std::string_view text) {
    const std::uint64_t hash = text_hash(text);
    if (names_ != nullptr) names_->add_text(hash, text);
    add({.value = hash,
         .path = path,
         .length = length_of(text),
         .patterns = patterns_of(text),
         .type = JsonType::string});
  }

  // Names are collected, and this one is not known yet.
  bool is_unnamed(PathHash path) const {
    return names_ != nullptr && names_->find(path) == nullptr;
  }

  PathHash place(std::string_view name) {
    const PathHash path = path_hash(PathHash{0}, name);
    if (is_unnamed(path)) names_->add_path(path, {std::string(name), "", {std::string(name)}});
    return path;
  }
  void text_fact(std::string_view name, std::string_view text) {
    if (!text.empty()) add_text(place(name), text);
  }
  void number_fact(std::string_view name, double number) { add_number(place(name), number); }

  void members(PathHash path, dom::object object, int depth, bool secret) {
    if (depth >= JsonFields::kDepthMax) return;
    for (const auto [key, element] : object) {
      if (key.size() > JsonFields::kNameBytesMax) continue;
      if (row_.cut) return;
      const PathHash child = path_hash(path, key);
      if (is_unnamed(child)) name_member(path, child, key);
      value(child, element, depth + 1, secret || is_secret_name(key));
    }
  }

  void items(PathHash path, dom::array array, int depth, bool secret) {
    add({.value = array.size(), .path = path, .type = JsonType::array});
    const PathHash below = path_hash(path, "[]");
    if (is_unnamed(below)) name_items(path, below);
    std::size_t read = 0;
    for (const dom::element item : array) {
      if (++read > JsonFields::kItemsRead || row_.cut) return;
      dom::object object;
      if (item.get_object().get(object) == simdjson::SUCCESS) {
        members(below, object, depth, secret);
      } else if (!item.is_array()) {
        scalar(below, item, secret);
      }
    }
  }

  void scalar(PathHash path, dom::element element, bool secret) {
    if (element.is_null()) return add({.path = path, .type = JsonType::null});
    bool boolean = false;
    if (element.get_bool().get(boolean) == simdjson::SUCCESS) {
      return add({.value = boolean && !secret, .path = path, .type = JsonType::boolean});
    }
    std::string_view text;
    if (element.get_string().get(text) == simdjson::SUCCESS) {
      return secret ? add({.path = path, .type = JsonType::string}) : add_text(path, text);
    }
    double number = 0;
    if (element.get_double().get(number) != simdjson::SUCCESS) return;
    secret ? add({.path = path, .type = JsonType::number}) : add_number(path, number);
  }

  void name_member(PathHash parent, PathHash child, std::string_view key) {
    const RowNames::Path* above = names_->find(parent);
    if (above == nullptr) return;
    RowNames::Path path = *above;
    if (!path.path.empty()) path.path += '.';
    path.path += key;
    path.filter += filter_path_step(key);
    path.place.emplace_back(key);
    names_->add_path(child, std::move(path));
  }

  void name_items(PathHash array, PathHash below) {
    const RowNames::Path* above = names_->find(array);
    if (above == nullptr) return;
    RowNames::Path path = *above;
    path.path += "[]";
    path.filter += "[*]";
    path.place.emplace_back("[]");
    names_->add_path(below, std::move(path));
  }

  const PathHash attributes_ = path_hash(PathHash{0}, "attribute");
  const PathHash body_ = path_hash(PathHash{0}, "body");
  RowNames* names_;
  Row row_;
};

}  // namespace

PathHash path_hash(PathHash parent, std::string_view step) {
  const std::uint64_t mixed = (text_hash(step) ^ parent) * 0x9e3779b97f4a7c15;
  return static_cast<PathHash>(mixed >> 32);
}

PathHash path_hash(std::span<const std::string> place) {
  PathHash hash = 0;
  for (const std::string& step : place) hash = path_hash(hash, step);
  return hash;
}

std::uint64_t text_hash(std::string_view text) {
  return siphash(kHashKey, text);
}

double number_in(const RowEntry& entry) {
  return std::bit_cast<double>(entry.value);
}

bool comes_before(const RowEntry& a, const RowEntry& b) {
  if (a.path != b.path) return a.path < b.path;
  return a.type != b.type ? a.type < b.type : a < b;
}

void RowNames::add_path(PathHash hash, Path path) {
  paths_.try_emplace(hash, std::move(path));
}

void RowNames::add_text(std::uint64_t hash, std::string_view text) {
  if (text.size() <= kTextBytesMax) texts_.try_emplace(hash, text);
}

const RowNames::Path* RowNames::find(PathHash hash) const {
  const auto found = paths_.find(hash);
  return found == paths_.end() ? nullptr : &found->second;
}

const std::string* RowNames::text(std::uint64_t hash) const {
  const auto found = texts_.find(hash);
  return found == texts_.end() ? nullptr : &found->second;
}

Row read_row(const MessageView& message, const JsonDocument& document, RowNames* names) {
  RowReader reader(names);
  reader.delivery(message.context);
  for (const AttributeView& attribute : message.attributes) reader.attribute(attribute);
  if (document.is_json()) reader.value(reader.body_path(), document.root(), 0, false);
  return reader.take(message.body.size() <= kSmallJsonBytes);
}

}  // namespace redrive::triage
