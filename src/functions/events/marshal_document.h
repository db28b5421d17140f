#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "functions/events/record.h"

// The event of a batch in Python's marshal format (version 4, readable since Python 3.4): parsed in
// a third of the time of JSON, which dominated the cost of a quick handler. It is the same event:
// marshal.loads() of it equals json.loads() of the JSON document.
//
//   ')' 2                            a pair:
//     ')' n ('z'|0x80 size text)*n     texts that every record has; 'r' place (u32) refers to one
//     '{' 'r' Records                  the event:
//       '[' count (u32)
//         record*
//     '0'
//
// A record is '{' (key value)* '0', where a text is 'z' size (u8) ASCII, 'a' size (u32) ASCII, or
// 'u' size (u32) UTF-8; numbers are little-endian. It refers only to the texts before the event, so
// records can be split and joined like those of JSON.
namespace redrive::events::marshal {

inline constexpr std::string_view kEventFoot = "0";

// Everything up to the first record.
std::string event_head(const EventSource& source);
// The end of every record of the source.
std::string record_foot();
void append_record(std::string& out, const Record& record, std::string_view foot);
// Sets the number of records after the head.
void set_count(std::string& event, std::size_t head_size, std::size_t count);

// Converts to JSON, byte for byte as the JSON encoder would have written it. Only for bytes written
// here: anything else is a bug.
std::string json_of_event(std::string_view event);
std::string json_of_record(std::string_view record, std::string_view head);

}  // namespace redrive::events::marshal
