#pragma once

#include <span>
#include <string>
#include <string_view>

#include "events/record.h"

namespace redrive::events {

// What one invocation may carry, in bytes of JSON.
inline constexpr std::size_t kEventBytesMax = 6'291'556;
// Of these, what surrounds the records; between two of them there is one more.
inline constexpr std::string_view kEventHead = R"({"Records":[)";
inline constexpr std::string_view kEventFoot = "]}";

struct EventSource {
  std::string arn;
  std::string region;
};

// What every record of a source ends with. To be written once.
std::string record_foot(const EventSource& source);
// Appends one element of Records, with its keys in the order in which AWS writes them.
void append_record(std::string& out, const Record& record, std::string_view foot);

// How many of the records, from the first on, fit into one event. At least one: a message alone
// always fits, whatever its escapes make of it, or nobody could ever have it.
std::size_t records_that_fit(std::span<const std::string_view> encoded);

// {"Records":[...]}
std::string event_document(std::span<const std::string_view> encoded);

// The record as filters see it: without its body, which has a format of its own, and without its
// source, which is added after filtering.
std::string filterable_record(const Record& record);

}  // namespace redrive::events
