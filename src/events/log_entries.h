#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/reported_error.h"

namespace redrive::events {

// Where each message id stands in its batch.
using IdPlaces = std::unordered_map<std::string_view, std::size_t>;
IdPlaces id_places(std::span<const std::string_view> message_ids);

// A part of a log that says something about a message, or about an error.
struct LogEntry {
  enum class Kind : std::uint8_t {
    note,       // A line that carries a message's id.
    weak,       // A line that says that something failed.
    named,      // A line that names an error's type.
    exception,  // A stack trace, or a structured log line that describes an error.
    gap,        // Lines are missing here.
  };
  Kind kind = Kind::note;
  // The message whose id the entry carries: none if it carries no id of the batch, or several.
  std::optional<std::size_t> place;
  bool several = false;  // It carries ids of several messages.
  wire::ReportedError error;
};

// In the order of the log. Lines that say nothing are left out. `failed` has the messages that
// failed: a trace belongs to the line before it only if that line carries the id of one of them.
std::vector<LogEntry> read_log_entries(std::string_view log, const IdPlaces& places,
                                       const std::vector<bool>& failed);

}  // namespace redrive::events
