#include "base/text.h"
#include "net/wire/append.h"
#include "net/wire/encode.h"
#include "net/wire/scalar_text.h"
#include "net/wire/scan.h"

namespace redrive::wire {
namespace {

void append_reference(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\r':
      out += "&#xD;";
      return;
    case '\n':
    case '\t':
      out += c;
      return;
    default:
      out += "\xef\xbf\xbd";
  }
}

// Writes `text` up to the first non-ASCII byte, if Stop stops there; returns the number of bytes
// consumed.
template <class Stop>
std::size_t append_referenced(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const char* const stop = scan_to<Stop>(at, end);
    out.append(at, stop);
    if (stop == end || static_cast<unsigned char>(*stop) >= 0x80) {
      return static_cast<std::size_t>(stop - text.data());
    }
    append_reference(out, *stop);
    at = stop + 1;
  }
}

// U+FFFE, U+FFFF and invalid UTF-8 cannot be written in XML, not even as a character reference.
void append_xml_beyond_ascii(std::string& out, std::string_view text) {
  if (is_message_text(text)) {
    append_referenced<XmlEscapes>(out, text);
  } else {
    append_referenced<XmlEscapes>(out, replace_invalid(text, Repertoire::xml));
  }
}

void open(std::string& out, std::string_view name) {
  append_parts(out, "<", name, ">");
}

void close(std::string& out, std::string_view name) {
  append_parts(out, "</", name, ">");
}

void append_text_element(std::string& out, std::string_view name, std::string_view text) {
  const char* const end = text.data() + text.size();
  const bool plain = scan_to<XmlEscapesOrHigh>(text.data(), end) == end;
  if (plain) return append_parts(out, "<", name, ">", text, "</", name, ">");
  open(out, name);
  append_xml_text(out, text);
  close(out, name);
}

void append_element(std::string& out, std::string_view name, const Type& type, const void* value) {
  if (type.kind == Kind::text) {
    return append_text_element(out, name, *static_cast<const std::string_view*>(value));
  }
  open(out, name);
  if (type.kind == Kind::record) {
    encode_xml(out, *type.record, value);
  } else {
    append_scalar(out, type, value);
  }
  close(out, name);
}

void append_map_item(std::string& out, const Traits& traits, const Type& type, const void* items,
                     std::size_t i) {
  open(out, traits.item_name);
  append_text_element(out, traits.key_name, type.key(items, i));
  append_element(out, traits.value_name, *type.inner, type.item(items, i));
  close(out, traits.item_name);
}

void append_items(std::string& out, const Field& field, const void* items) {
  const Type& type = *field.type;
  const std::size_t size = type.size(items);
  for (std::size_t i = 0; i < size; ++i) {
    if (type.kind == Kind::map) {
      append_map_item(out, field.traits, type, items, i);
    } else {
      append_element(out, field.traits.item_name, *type.inner, type.item(items, i));
    }
  }
}

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  text.remove_prefix(append_referenced<XmlEscapesOrHigh>(out, text));
  if (!text.empty()) append_xml_beyond_ascii(out, text);
}

void encode_xml(std::string& out, const Record& record, const void* value) {
  for (const Field& field : record.fields) {
    const void* held = value_to_write(field, value);
    const bool wrapped = field.traits.wrapped;
    if (held == nullptr && !(wrapped && field.traits.always)) continue;
    if (wrapped) open(out, field.name);
    if (is_collection(*field.type)) {
      // Items that are not wrapped take the collection's place.
      if (held != nullptr) append_items(out, field, held);
      if (wrapped) close(out, field.name);
    } else {
      append_element(out, field.name, bare(*field.type), held);
    }
  }
}

}  // namespace redrive::wire
