#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "functions/events/record.h"

namespace redrive::events {

// Maximum payload of one invocation, in bytes of JSON. The same number of bytes of marshal, which
// has no escapes and no repeated keys, holds more: as JSON it would be half as large again for
// small messages, and up to twice as large if every byte needed an escape.
inline constexpr std::size_t kEventBytesMax = 6'291'556;

// Encoding of an event.
enum class EventFormat : std::uint8_t {
  json,
  marshal,  // For Python, which parses it faster; see marshal_document.h.
};

// The parts of a source's events around the records. Created once.
struct EventFrame {
  EventFormat format = EventFormat::json;
  std::string head;
  std::string_view separator;  // Between two records.
  std::string_view foot;
  std::string record_foot;  // The end of every record.
};
EventFrame event_frame(const EventSource& source, EventFormat format = EventFormat::json);

// Appends one element of Records, with its keys in AWS's order.
void append_record(std::string& out, const Record& record, const EventFrame& frame);
// Completes an event that has its head and `records` records.
void end_event(std::string& event, std::size_t records, const EventFrame& frame);

// {"Records":[...]} from records encoded with the same frame.
std::string event_document(std::span<const std::string_view> encoded, const EventFrame& frame);

// Converts an encoded record to JSON.
std::string json_of_record(std::string_view encoded, const EventFrame& frame);

// The record as filters see it: without its body, which may have another format, and without its
// source, which is added after filtering.
std::string filterable_record(const Record& record);

}  // namespace redrive::events
