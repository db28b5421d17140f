#include <fmt/format.h>

#include "base/text.h"
#include "net/wire/encode.h"
#include "net/wire/scalar_text.h"

// The inverse of query_source.cpp. Used only by clients, so not optimised.

namespace redrive::wire {
namespace {

void append_record(std::string& out, const std::string& prefix, const Record& record,
                   const void* value);

void append_parameter(std::string& out, std::string_view name, std::string_view value) {
  out += '&';
  out += name;
  out += '=';
  out += percent_encode(value, false);
}

void append_value(std::string& out, const std::string& name, const Type& type, const void* value) {
  if (type.kind == Kind::record) return append_record(out, name + ".", *type.record, value);
  if (type.kind == Kind::text) {
    return append_parameter(out, name, *static_cast<const std::string_view*>(value));
  }
  std::string text;
  append_scalar(text, type, value);
  append_parameter(out, name, text);
}

void append_items(std::string& out, const std::string& prefix, const Field& field,
                  const void* items) {
  const Type& type = *field.type;
  const Traits& traits = field.traits;
  for (std::size_t i = 0; i < type.size(items); ++i) {
    const std::string name = fmt::format("{}{}.{}", prefix, traits.item_name, i + 1);
    if (type.kind == Kind::list) {
      append_value(out, name, *type.inner, type.item(items, i));
      continue;
    }
    append_parameter(out, fmt::format("{}.{}", name, traits.key_name), type.key(items, i));
    const std::string value_name = fmt::format("{}.{}", name, traits.value_name);
    append_value(out, value_name, *type.inner, type.item(items, i));
  }
}

void append_record(std::string& out, const std::string& prefix, const Record& record,
                   const void* value) {
  for (const Field& field : record.fields) {
    const void* held = value_to_write(field, value);
    if (held == nullptr) continue;
    if (is_collection(*field.type)) {
      append_items(out, prefix, field, held);
    } else {
      append_value(out, prefix + std::string(field.name), bare(*field.type), held);
    }
  }
}

}  // namespace

void encode_query(std::string& out, const Record& record, const void* value) {
  append_record(out, "", record, value);
}

}  // namespace redrive::wire
