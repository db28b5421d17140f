#pragma once

#include <string>
#include <string_view>

#include "wire/shape.h"

// From structs to bytes, for any struct with a shape; everything is appended to `out`.
//
// Absent optionals, empty collections and empty texts that are not required are left out, in every
// protocol. What was decoded without error and is encoded again decodes to an equal value.

namespace redrive::wire {

// {"Name":value,...}
void encode_json(std::string& out, const Record& record, const void* value);
// <Name>value</Name>..., the children of the element the caller has opened.
void encode_xml(std::string& out, const Record& record, const void* value);
// &Name=value..., each parameter with its ampersand, to follow an Action.
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

// One value of a record's member: the part of encode_json after the colon.
void encode_json_value(std::string& out, const Type& type, const void* value);

// A JSON string with its quotes. UTF-8 stays as it is; bytes that are not UTF-8 become U+FFFD, so
// that the result is valid JSON whatever was stored.
void append_json_text(std::string& out, std::string_view text);
// Text between XML tags. A carriage return is written as a reference, since parsers fold raw ones;
// what XML 1.0 cannot express (control characters, U+FFFE, U+FFFF, bytes that are not UTF-8)
// becomes U+FFFD, so that the result is well-formed whatever was stored.
void append_xml_text(std::string& out, std::string_view text);

}  // namespace redrive::wire
