#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "events/record.h"

// The event of a batch as Python's marshal writes it (format 4, which Python reads since 3.4): a
// function has it in a third of the time that JSON takes, and of what a quick handler costs, JSON
// was the most. It is the same event, key by key: what marshal.loads() makes of it equals what
// json.loads() makes of the JSON document.
//
//   ')' 2                            a pair:
//     ')' n ('z'|0x80 size text)*n     texts that every record has; 'r' place (u32) stands for one
//     '{' 'r' Records                  the event:
//       '[' count (u32)
//         record*
//     '0'
//
// A record is '{' (key value)* '0', where a text is 'z' size (u8) ASCII, 'a' size (u32) ASCII, or
// 'u' size (u32) UTF-8; numbers are little-endian. It refers to nothing but the texts in front of
// the event, so that records can be taken apart and put together like those of JSON.
namespace redrive::events::marshal {

inline constexpr std::string_view kEventFoot = "0";

// Up to the first record.
std::string event_head(const EventSource& source);
// What every record of the source ends with, under its head.
std::string record_foot();
void append_record(std::string& out, const Record& record, std::string_view foot);
// How many records follow the head.
void set_count(std::string& event, std::size_t head_size, std::size_t count);

// The same as JSON, byte for byte as it would have been written. Of bytes that were written here:
// anything else is a mistake of ours.
std::string json_of_event(std::string_view event);
std::string json_of_record(std::string_view record, std::string_view head);

}  // namespace redrive::events::marshal
