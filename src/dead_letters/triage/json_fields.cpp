#include "dead_letters/triage/json_fields.h"

#include <array>
#include <charconv>
#include <functional>

#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/secrets.h"

namespace redrive::triage {

namespace dom = simdjson::dom;

namespace {

JsonType type_of(dom::element value) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return JsonType::object;
    case dom::element_type::ARRAY:
      return JsonType::array;
    case dom::element_type::STRING:
      return JsonType::string;
    case dom::element_type::BOOL:
      return JsonType::boolean;
    case dom::element_type::NULL_VALUE:
      return JsonType::null;
    default:
      return JsonType::number;
  }
}

BodyKind kind_of(JsonType type) {
  if (type == JsonType::object) return BodyKind::json_object;
  return type == JsonType::array ? BodyKind::json_array : BodyKind::json_other;
}

}  // namespace

std::string_view name_of(JsonType type) {
  constexpr std::array<std::string_view, kJsonTypes> kNames = {
      "object", "array", "string", "number", "boolean", "null"};
  return kNames[static_cast<std::size_t>(type)];
}

// Counts the fields of one message.
class JsonCounter {
 public:
  JsonCounter(JsonFields& fields, ValueBudget& budget)
      : fields_(fields), budget_(budget), message_(++fields.messages_) {}

  void value(std::uint16_t at, dom::element element) {
    const JsonType type = type_of(element);
    const bool first = count(fields_.fields_[at], type);
    switch (type) {
      case JsonType::object:
        return members(at, element.get_object().value_unsafe(), false);
      case JsonType::array:
        return items(at, element.get_array().value_unsafe());
      default:
        if (first) scalar(fields_.fields_[at], type, element);
    }
  }

 private:
  // Returns true on the field's first occurrence in the message.
  bool count(JsonField& field, JsonType type) {
    const bool first = field.seen_in != message_;
    if (first) {
      field.seen_in = message_;
      field.types_seen = 0;
      ++field.with;
    }
    const auto bit = static_cast<std::uint8_t>(1u << static_cast<unsigned>(type));
    if ((field.types_seen & bit) == 0) ++field.types[static_cast<std::size_t>(type)];
    field.types_seen |= bit;
    return first;
  }

  void members(std::uint16_t at, dom::object object, bool in_array) {
    if (fields_.fields_[at].depth >= JsonFields::kDepthMax) return;
    for (const auto [key, element] : object) {
      if (key.size() > JsonFields::kNameBytesMax) continue;
      const auto child = fields_.find_or_create(at, key, in_array);
      if (child) value(*child, element);
    }
  }

  void items(std::uint16_t at, dom::array array) {
    std::size_t read = 0;
    for (const dom::element item : array) {
      if (++read > JsonFields::kItemsRead) return;
      dom::object object;
      if (item.get_object().get(object) == simdjson::SUCCESS) members(at, object, true);
    }
  }

  void scalar(JsonField& field, JsonType type, dom::element element) {
    if (field.values.many()) return;
    std::array<char, ValueCounts::kValueBytesMax> text;
    std::size_t size = 0;
    if (type == JsonType::string) {
      const std::string_view string = element.get_string().value_unsafe();
      if (string.size() + 1 > text.size()) return field.values.become_many(budget_);
      text[0] = '"';
      size = 1 + string.copy(text.data() + 1, string.size());
    } else {
      size = static_cast<std::size_t>(write(text, element) - text.data());
    }
    field.values.add({text.data(), size}, 1, budget_);
  }

  static char* write(std::array<char, ValueCounts::kValueBytesMax>& out, dom::element element) {
    char* const end = out.data() + out.size();
    switch (element.type()) {
      case dom::element_type::INT64:
        return std::to_chars(out.data(), end, element.get_int64().value_unsafe()).ptr;
      case dom::element_type::UINT64:
        return std::to_chars(out.data(), end, element.get_uint64().value_unsafe()).ptr;
      case dom::element_type::DOUBLE:
        return std::to_chars(out.data(), end, element.get_double().value_unsafe()).ptr;
      case dom::element_type::BOOL:
        return out.data() + std::string_view(element.get_bool().value_unsafe() ? "true" : "false")
                                .copy(out.data(), out.size());
      default:
        return out.data() + std::string_view("null").copy(out.data(), out.size());
    }
  }

  JsonFields& fields_;
  ValueBudget& budget_;
  std::uint64_t message_;
};

JsonFields::JsonFields() : slots_(kSlots, kNone) {
  fields_.emplace_back();
  ValueBudget none;
  fields_[0].values.become_many(none);  // Values of whole bodies are not useful.
}

BodyKind JsonFields::add(const JsonDocument& document, std::string_view body, ValueBudget& budget) {
  if (!document.is_json()) return kind_of_text(body);
  JsonCounter(*this, budget).value(0, document.root());
  return kind_of(type_of(document.root()));
}

std::size_t JsonFields::slot_of(std::uint16_t parent, std::string_view name, bool in_array) const {
  const std::size_t seed = (std::size_t{parent} * 2 + (in_array ? 1 : 0)) * 0x9e3779b97f4a7c15;
  std::size_t slot = (std::hash<std::string_view>()(name) ^ (seed >> 32)) % kSlots;
  for (; slots_[slot] != kNone; slot = (slot + 1) % kSlots) {
    const JsonField& field = fields_[slots_[slot]];
    if (field.parent == parent && field.in_array == in_array && field.name == name) break;
  }
  return slot;
}

std::optional<std::uint16_t> JsonFields::find(std::uint16_t parent, std::string_view name,
                                              bool in_array) const {
  const std::uint16_t field = slots_[slot_of(parent, name, in_array)];
  return field == kNone ? std::nullopt : std::optional(field);
}

std::optional<std::uint16_t> JsonFields::find_or_create(std::uint16_t parent, std::string_view name,
                                                        bool in_array) {
  const std::size_t slot = slot_of(parent, name, in_array);
  if (slots_[slot] != kNone) return slots_[slot];
  JsonField& above = fields_[parent];
  if (above.children_full) return std::nullopt;
  if (above.children >= kChildrenMax || fields_.size() >= kFieldsMax) {
    above.children_full = true;
    return std::nullopt;
  }
  ++above.children;
  const auto depth = static_cast<std::uint8_t>(above.depth + 1);
  slots_[slot] = static_cast<std::uint16_t>(fields_.size());
  fields_.push_back(
      {.name = std::string(name), .parent = parent, .in_array = in_array, .depth = depth});
  ValueBudget none;
  if (in_array || is_secret_name(name)) fields_.back().values.become_many(none);
  return slots_[slot];
}

void JsonFields::restore_root(const JsonField& root) {
  fields_[0].with = root.with;
  fields_[0].types = root.types;
}

bool JsonFields::restore(JsonField field) {
  if (field.parent >= fields_.size() || fields_[field.parent].depth >= kDepthMax) return false;
  if (field.name.size() > kNameBytesMax) return false;
  const std::size_t before = fields_.size();
  const auto at = find_or_create(field.parent, field.name, field.in_array);
  if (!at || fields_.size() == before) return false;
  field.depth = fields_[*at].depth;
  fields_[*at] = std::move(field);
  return true;
}

void JsonFields::restore_full(std::uint16_t field) {
  fields_[field].children_full = true;
}

// Adds the fields of `from` to `into`, taking into account what `other`, the other operand, has.
class JsonMerger {
 public:
  JsonMerger(JsonFields& into, const JsonFields& from, const JsonFields& other)
      : into_(into),
        from_(from),
        other_(other),
        here_(from.fields_.size(), JsonFields::kNone),
        there_(from.fields_.size(), JsonFields::kNone) {
    here_[0] = there_[0] = 0;
  }

  // Adds to `full` the fields of `into` with missing children.
  void run(ValueBudget& budget, std::vector<std::uint16_t>& full) {
    for (std::uint16_t i = 0; i < from_.fields_.size(); ++i) {
      if (i > 0) place(i, full);
      if (here_[i] == JsonFields::kNone) continue;
      const JsonField& field = from_.fields_[i];
      JsonField& sum = into_.fields_[here_[i]];
      sum.with += field.with;
      for (std::size_t type = 0; type < kJsonTypes; ++type) sum.types[type] += field.types[type];
      sum.values.merge(field.values, budget);
      if (field.children_full) full.push_back(here_[i]);
    }
  }

 private:
  // Finds field i in the sum and in the other operand. A field that the other may have left out is
  // not added to the sum: its count would be wrong.
  void place(std::uint16_t i, std::vector<std::uint16_t>& full) {
    const JsonField& field = from_.fields_[i];
    const std::uint16_t above = here_[field.parent];
    const std::uint16_t above_there = there_[field.parent];
    if (above == JsonFields::kNone) return;
    if (above_there != JsonFields::kNone) {
      there_[i] = other_.find(above_there, field.name, field.in_array).value_or(JsonFields::kNone);
      const bool uncertain =
          there_[i] == JsonFields::kNone && other_.fields_[above_there].children_full;
      if (uncertain) return full.push_back(above);
    }
    here_[i] = into_.find_or_create(above, field.name, field.in_array).value_or(JsonFields::kNone);
  }

  JsonFields& into_;
  const JsonFields& from_;
  const JsonFields& other_;
  std::vector<std::uint16_t> here_;   // Index of each field of `from` in `into`,
  std::vector<std::uint16_t> there_;  // and in `other`.
};

void JsonFields::merge(const JsonFields& other, ValueBudget& budget) {
  for (const JsonField& field : fields_) {
    for (const auto& value : field.values.values()) budget.give_back(value.text.size());
  }
  JsonFields merged;
  std::vector<std::uint16_t> full;
  JsonMerger(merged, *this, other).run(budget, full);
  JsonMerger(merged, other, *this).run(budget, full);
  for (const std::uint16_t field : full) merged.fields_[field].children_full = true;
  *this = std::move(merged);
}

std::size_t JsonFields::heap_bytes() const {
  std::size_t bytes = fields_.capacity() * sizeof(JsonField) + slots_.capacity() * 2;
  for (const JsonField& field : fields_) {
    if (field.name.capacity() > std::string().capacity()) bytes += field.name.capacity() + 1;
    bytes += field.values.heap_bytes();
  }
  return bytes;
}

}  // namespace redrive::triage
