#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/wire/reported_error.h"

namespace redrive::events {

// Index of each message id in its batch.
using IdPlaces = std::unordered_map<std::string_view, std::size_t>;
IdPlaces id_places(std::span<const std::string_view> message_ids);

// Part of a log that concerns a message or an error.
struct LogEntry {
  enum class Kind : std::uint8_t {
    note,       // A line with a message's id.
    weak,       // A line that says that something failed.
    named,      // A line with the name of an error type.
    exception,  // A stack trace, or a structured log line that describes an error.
    gap,        // Lines are missing here.
  };
  Kind kind = Kind::note;
  // The message whose id the entry contains; nullopt if it contains none of the batch's ids, or
  // several.
  std::optional<std::size_t> place;
  bool several = false;  // It contains ids of several messages.
  wire::ReportedError error;
};

// Entries in log order; irrelevant lines are left out. `failed` tells which messages failed: a
// trace belongs to the line before it only if that line contains the id of one of them.
std::vector<LogEntry> read_log_entries(std::string_view log, const IdPlaces& places,
                                       const std::vector<bool>& failed);

}  // namespace redrive::events
