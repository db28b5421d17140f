#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "events/record.h"

namespace redrive::events {

// What one invocation may carry, in bytes of JSON. Of marshal, which needs no escapes and names no
// key twice, as many bytes hold more: as JSON they would be half as much again where messages are
// small, and up to twice as much where every byte of theirs would need an escape.
inline constexpr std::size_t kEventBytesMax = 6'291'556;

// How an event is written.
enum class EventFormat : std::uint8_t {
  json,
  marshal,  // For Python, which reads it in less time: see marshal_document.h.
};

// What the events of a source have around their records. To be made once.
struct EventFrame {
  EventFormat format = EventFormat::json;
  std::string head;
  std::string_view separator;  // Between two records.
  std::string_view foot;
  std::string record_foot;  // What every record ends with.
};
EventFrame event_frame(const EventSource& source, EventFormat format = EventFormat::json);

// Appends one element of Records, with its keys in the order in which AWS writes them.
void append_record(std::string& out, const Record& record, const EventFrame& frame);
// Ends an event that has its head and so many records.
void end_event(std::string& event, std::size_t records, const EventFrame& frame);

// {"Records":[...]} of records that were appended somewhere under the same frame.
std::string event_document(std::span<const std::string_view> encoded, const EventFrame& frame);

// Such a record as JSON.
std::string json_of_record(std::string_view encoded, const EventFrame& frame);

// The record as filters see it: without its body, which has a format of its own, and without its
// source, which is added after filtering.
std::string filterable_record(const Record& record);

}  // namespace redrive::events
