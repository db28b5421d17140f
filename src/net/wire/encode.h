#pragma once

#include <string>
#include <string_view>

#include "net/wire/shape.h"

// Encodes any struct with a shape; appends to `out`.
//
// Absent optionals, empty collections and empty texts that are not required are omitted in every
// protocol. Encoding and decoding round-trip: a successfully decoded value, encoded again, decodes
// to an equal value.

namespace redrive::wire {

// {"Name":value,...}
void encode_json(std::string& out, const Record& record, const void* value);
// <Name>value</Name>..., the children of an element that the caller has opened.
void encode_xml(std::string& out, const Record& record, const void* value);
// &Name=value..., each parameter with its ampersand, to be appended to an Action.
void encode_query(std::string& out, const Record& record, const void* value);

template <class T>
void encode_json(std::string& out, const T& value) {
  encode_json(out, kRecord<T>, &value);
}
template <class T>
void encode_xml(std::string& out, const T& value) {
  encode_xml(out, kRecord<T>, &value);
}
template <class T>
void encode_query(std::string& out, const T& value) {
  encode_query(out, kRecord<T>, &value);
}

// The value of one member: the part of encode_json after the colon.
void encode_json_value(std::string& out, const Type& type, const void* value);

// A quoted JSON string. UTF-8 is kept; bytes that are not UTF-8 become U+FFFD, so that the result
// is always valid JSON.
void append_json_text(std::string& out, std::string_view text);
// Text between XML tags. A carriage return is written as a character reference, since parsers
// normalise raw ones; what XML 1.0 cannot express (control characters, U+FFFE, U+FFFF, bytes that
// are not UTF-8) becomes U+FFFD, so that the result is always well-formed.
void append_xml_text(std::string& out, std::string_view text);

}  // namespace redrive::wire
