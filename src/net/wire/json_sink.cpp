#include <fmt/format.h>
#include <simdjson.h>

#include <iterator>

#include "base/text.h"
#include "base/time.h"
#include "net/wire/append.h"
#include "net/wire/encode.h"
#include "net/wire/scalar_text.h"
#include "net/wire/scan.h"

namespace redrive::wire {
namespace {

void append_escape(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

// Writes `text` up to the first non-ASCII byte, if Stop stops there; returns the number of bytes
// consumed.
template <class Stop>
std::size_t append_escaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const char* const stop = scan_to<Stop>(at, end);
    out.append(at, stop);
    if (stop == end || static_cast<unsigned char>(*stop) >= 0x80) {
      return static_cast<std::size_t>(stop - text.data());
    }
    append_escape(out, *stop);
    at = stop + 1;
  }
}

// Data stored by an older version may not be UTF-8; responses always are.
void append_json_beyond_ascii(std::string& out, std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) {
    append_escaped<JsonEscapes>(out, text);
  } else {
    append_escaped<JsonEscapes>(out, replace_invalid(text));
  }
}

// Names are our own and need no escaping.
void append_name(std::string& out, std::string_view name, std::string_view before) {
  append_parts(out, before, "\"", name, "\":");
}

void encode_list(std::string& out, const Type& type, const void* items) {
  out += '[';
  const std::size_t size = type.size(items);
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    encode_json_value(out, *type.inner, type.item(items, i));
  }
  out += ']';
}

void encode_map(std::string& out, const Type& type, const void* items) {
  out += '{';
  const std::size_t size = type.size(items);
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    append_json_text(out, type.key(items, i));
    out += ':';
    encode_json_value(out, *type.inner, type.item(items, i));
  }
  out += '}';
}

void append_seconds(std::string& out, Timestamp time) {
  fmt::format_to(std::back_inserter(out), "{}.{:03}", time.ms() / 1000, time.ms() % 1000);
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const stop = scan_to<JsonEscapesOrHigh>(text.data(), end);
  if (stop == end) return append_parts(out, "\"", text, "\"");
  out += '"';
  text.remove_prefix(append_escaped<JsonEscapesOrHigh>(out, text));
  if (!text.empty()) append_json_beyond_ascii(out, text);
  out += '"';
}

void encode_json_value(std::string& out, const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::text:
      return append_json_text(out, *static_cast<const std::string_view*>(value));
    case Kind::list:
      return encode_list(out, type, value);
    case Kind::map:
      return encode_map(out, type, value);
    case Kind::record:
      return encode_json(out, *type.record, value);
    case Kind::time:
      return append_seconds(out, *static_cast<const Timestamp*>(value));
    default:
      break;
  }
  if (is_json_literal(type)) return append_scalar(out, type, value);
  out += '"';
  append_scalar(out, type, value);
  out += '"';
}

void encode_json(std::string& out, const Record& record, const void* value) {
  std::string_view before = "{";
  for (const Field& field : record.fields) {
    const void* held = value_to_write(field, value);
    if (held == nullptr && !field.traits.always) continue;
    append_name(out, field.name, before);
    before = ",";
    encode_json_value(out, bare(*field.type), held != nullptr ? held : field.of(value));
  }
  if (before == "{") out += '{';
  out += '}';
}

}  // namespace redrive::wire
