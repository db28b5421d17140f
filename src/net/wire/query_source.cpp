#include <algorithm>
#include <span>
#include <tuple>

#include "base/text.h"
#include "net/wire/checks.h"
#include "net/wire/decoder.h"
#include "net/wire/scan.h"

// Query: a flat list of name=value. A dotted name is a path through lists and maps:
//
//   SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.DataType=String
//   Parameters.member.2.ParameterKey=Stage
//
// A record's parameters are read in one pass: scalars are decoded at once, the others are sorted by
// field and index, and each run with the same index is an item, decoded the same way without its
// prefix. Indices need be neither contiguous nor in order; an item without an index is item 0.

namespace redrive::wire {
namespace {

constexpr std::uint32_t kNoField = UINT32_MAX;

std::string_view decode_form(Arena& arena, std::string_view text) {
  const char* const end = text.data() + text.size();
  if (scan_to<FormEscapes>(text.data(), end) == end) return text;
  char* const out = arena.take(text.size());
  char* next = out;
  for (const char* at = text.data(); at != end; ++at) {
    const bool escape =
        *at == '%' && end - at > 2 && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0;
    if (escape) {
      *next++ = static_cast<char>(hex_digit(at[1]) * 16 + hex_digit(at[2]));
      at += 2;
    } else {
      *next++ = *at == '+' ? ' ' : *at;  // An invalid escape is kept as it is.
    }
  }
  return {out, next};
}

// Calls `use(key, value)`, both undecoded, for each parameter of `text`.
template <class Use>
void for_each_parameter(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    use(pair.substr(0, equals), pair.substr(std::min(pair.size(), equals + 1)));
  }
}

using Parameters = std::span<QueryParameter>;

class QueryReader {
 public:
  explicit QueryReader(Arena& arena) : arena_(arena) {}

  Result<void> record(Parameters parameters, const Record& record, void* out, const Path* path,
                      bool content) {
    std::uint64_t seen = 0;
    for (QueryParameter& parameter : parameters) {
      const std::size_t i = find(record, parameter.key);
      parameter.field = i == record.fields.size() ? kNoField : static_cast<std::uint32_t>(i);
      if (parameter.field == kNoField) continue;
      seen |= 1ull << i;
      const Field& field = record.fields[i];
      if (is_nested(field)) {
        RETURN_IF_ERROR(enter(parameter, field));
      } else {
        RETURN_IF_ERROR(
            scalar(parameter.value, *field.type, field.in(out), spot_of(field, path, content)));
      }
    }
    RETURN_IF_ERROR(items(parameters, record, out, path, content));
    return check_record(record, out, seen, path);
  }

 private:
  static bool is_nested(const Field& field) {
    return is_collection(*field.type) || bare(*field.type).kind == Kind::record;
  }

  static std::string_view first_segment(std::string_view key) {
    return key.substr(0, key.find('.'));
  }

  static std::string_view after(std::string_view key, std::size_t segment_size) {
    return key.substr(std::min(key.size(), segment_size + 1));
  }

  static std::string_view head_of(const Field& field) {
    return field.traits.wrapped ? field.name : field.traits.item_name;
  }

  static std::size_t find(const Record& record, std::string_view key) {
    const std::string_view head = first_segment(key);
    const auto names = [&](const Field& field) {
      if (is_collection(*field.type)) return head_of(field) == head;
      return field.name == (is_nested(field) ? head : key);
    };
    const auto found = std::ranges::find_if(record.fields, names);
    return static_cast<std::size_t>(found - record.fields.begin());
  }

  // Removes the field's name, and the index if there is one, from the key.
  static Result<void> enter(QueryParameter& parameter, const Field& field) {
    parameter.key = after(parameter.key, first_segment(parameter.key).size());
    parameter.index = 0;
    if (field.traits.wrapped && first_segment(parameter.key) == field.traits.item_name) {
      parameter.key = after(parameter.key, field.traits.item_name.size());
    }
    const std::string_view segment = first_segment(parameter.key);
    const bool numbered = !segment.empty() && segment.front() >= '0' && segment.front() <= '9';
    if (!is_collection(*field.type) || !numbered) return {};
    const auto index = parse_int<std::uint32_t>(segment);
    if (!index || *index == 0 || *index > kQueryIndexMax) {
      return malformed(spot_of(field, nullptr, false), "numbered from 1 to 10000");
    }
    parameter.key = after(parameter.key, segment.size());
    parameter.index = *index;
    return {};
  }

  Result<void> items(Parameters parameters, const Record& record, void* out, const Path* path,
                     bool content) {
    const auto place = [](const QueryParameter& p) {
      return std::tuple(p.field, p.index, p.order);
    };
    std::ranges::sort(parameters, {}, place);
    while (!parameters.empty() && parameters.front().field != kNoField) {
      const QueryParameter first = parameters.front();
      const auto same = [&](const QueryParameter& p) {
        return p.field == first.field && p.index == first.index;
      };
      const auto end = std::ranges::find_if_not(parameters, same);
      const auto count = static_cast<std::size_t>(end - parameters.begin());
      const Field& field = record.fields[first.field];
      if (is_nested(field)) {
        const Path inner{path, field.traits.item_name, first.index};
        RETURN_IF_ERROR(
            item(parameters.first(count), field, out, inner, spot_of(field, path, content)));
      }
      parameters = parameters.subspan(count);
    }
    return {};
  }

  Result<void> item(Parameters parameters, const Field& field, void* out, const Path& path,
                    const Spot& at) {
    const Type& type = bare(*field.type);
    void* value = field.in(out);
    if (type.kind == Kind::map) return map_item(parameters, type, value, path, at);
    if (field.type->kind == Kind::optional) value = field.type->engage(value);
    if (type.kind == Kind::record) {
      return record(parameters, *type.record, value, at.path, at.content);
    }
    if (type.size(value) == kListItemsMax) return too_many_items(at);
    if (type.inner->kind == Kind::record) {
      return record(parameters, *type.inner->record, type.append(value), &path, at.content);
    }
    const QueryParameter& last = parameters.back();
    if (!last.key.empty()) return {};
    return scalar(last.value, *type.inner, type.append(value), at);
  }

  Result<void> map_item(Parameters parameters, const Type& type, void* out, const Path& path,
                        const Spot& at) {
    const Traits& traits = at.field.traits;
    const auto last = [&](std::string_view name) -> const QueryParameter* {
      const auto found = std::find_if(
          parameters.rbegin(), parameters.rend(), [&](const auto& p) { return p.key == name; });
      return found == parameters.rend() ? nullptr : &*found;
    };
    const QueryParameter* const key = last(traits.key_name);
    const std::string_view name = key == nullptr ? std::string_view() : key->value;
    RETURN_IF_ERROR(check_text(name, at));
    if (type.size(out) == kMapItemsMax) return too_many_items(at);
    if (type.inner->kind == Kind::record) {
      return map_record(parameters, *type.inner->record, type.place(out, name), path, at);
    }
    const QueryParameter* const value = last(traits.value_name);
    if (value == nullptr) return missing(full_name(&path, traits.value_name));
    return scalar(value->value, *type.inner, type.place(out, name), at);
  }

  // The value's parameters are those under "Value."; the others get a key that matches no field.
  Result<void> map_record(Parameters parameters, const Record& inner, void* out, const Path& path,
                          const Spot& at) {
    const std::string_view value_name = at.field.traits.value_name;
    for (QueryParameter& parameter : parameters) {
      const bool of_value = first_segment(parameter.key) == value_name;
      parameter.key = of_value ? after(parameter.key, value_name.size()) : std::string_view();
    }
    return record(parameters, inner, out, &path, at.content);
  }

  Result<void> scalar(std::string_view text, const Type& type, void* out, const Spot& at) {
    RETURN_IF_ERROR(check_text(text, at));
    void* const value = type.kind == Kind::optional ? type.engage(out) : out;
    if (bare(type).kind == Kind::text) {
      *static_cast<std::string_view*>(value) = text;
      return {};
    }
    if (TRY(parse_scalar(at, bare(type), text, arena_, value))) return {};
    return is_utf8(text) ? invalid_value(at, text) : malformed(at, "valid UTF-8");
  }

  static Result<void> check_text(std::string_view text, const Spot& at) {
    if (at.content || is_utf8(text)) return {};
    return malformed(at, "valid UTF-8");
  }

  static std::unexpected<Error> missing(std::string name) {
    return fail(ErrorCode::missing_parameter,
                "The request must contain the parameter " + std::move(name) + ".");
  }

  Arena& arena_;
};

Result<void> collect(Decoder& decoder, std::string_view text) {
  auto& parameters = decoder.parameters();
  for_each_parameter(text, [&](std::string_view key, std::string_view value) {
    if (parameters.size() > kQueryParametersMax) return;
    parameters.push_back({.key = decode_form(decoder.arena(), key),
                          .value = decode_form(decoder.arena(), value),
                          .order = static_cast<std::uint32_t>(parameters.size())});
  });
  if (parameters.size() <= kQueryParametersMax) return {};
  return fail(ErrorCode::malformed_request, "The request has too many parameters.");
}

}  // namespace

Result<void> decode_query(Decoder& decoder, std::string_view query_string,
                          std::string_view form_body, const Record& record, void* out) {
  decoder.arena().reset();
  decoder.parameters().clear();
  record.reset(out);
  RETURN_IF_ERROR(collect(decoder, query_string));
  RETURN_IF_ERROR(collect(decoder, form_body));
  return QueryReader(decoder.arena()).record(decoder.parameters(), record, out, nullptr, false);
}

std::optional<std::string_view> find_query_parameter(Decoder& decoder,
                                                     std::string_view query_string,
                                                     std::string_view form_body,
                                                     std::string_view name) {
  std::optional<std::string_view> found;
  for (const std::string_view text : {query_string, form_body}) {
    for_each_parameter(text, [&](std::string_view key, std::string_view value) {
      if (key == name) found = decode_form(decoder.arena(), value);
    });
  }
  return found;
}

}  // namespace redrive::wire
