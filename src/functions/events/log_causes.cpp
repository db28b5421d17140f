#include "functions/events/log_causes.h"

#include <algorithm>
#include <optional>

#include "functions/events/log_entries.h"

namespace redrive::events {
namespace {

using Kind = LogEntry::Kind;
using Errors = std::vector<wire::ReportedError>;

bool is_telling(const LogEntry& entry) {
  return entry.kind == Kind::exception || entry.kind == Kind::named;
}

class CauseFinder {
 public:
  CauseFinder(std::vector<LogEntry> entries, const std::vector<bool>& failed,
              const std::vector<bool>& known)
      : entries_(std::move(entries)), failed_(failed), known_(known), errors_(failed.size()) {}

  Errors find() {
    take_by_id(Kind::exception);
    take_by_id(Kind::named);
    take_between();
    take_only();
    take_by_id(Kind::weak);
    return std::move(errors_);
  }

 private:
  bool is_open(std::size_t place) const {
    return failed_[place] && !known_[place] && errors_[place].empty();
  }

  // The last entry is the one that made the message fail.
  void take_by_id(Kind kind) {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->kind != kind || !entry->place || !is_open(*entry->place)) continue;
      errors_[*entry->place] = entry->error;
    }
  }

  // Handlers log the id before or after processing a message; which one is decided by what comes
  // first in the log.
  void take_between() {
    const auto first = std::ranges::find_if(entries_, [](const LogEntry& entry) {
      return entry.place || entry.kind == Kind::exception;
    });
    if (first == entries_.end()) return;
    Errors found(errors_.size());
    first->place ? scan(entries_.begin(), entries_.end(), found)
                 : scan(entries_.rbegin(), entries_.rend(), found);
    for (std::size_t i = 0; i < errors_.size(); ++i)
      if (is_open(i) && found[i].empty()) return;  // Messages were not processed one by one.
    for (std::size_t i = 0; i < errors_.size(); ++i)
      if (is_open(i)) errors_[i] = std::move(found[i]);
  }

  template <class Iterator>
  void scan(Iterator begin, Iterator end, Errors& found) const {
    constexpr std::size_t kNone = SIZE_MAX;  // Not std::optional: g++ 12 warns about its value.
    std::size_t current = kNone;
    std::vector<Kind> kinds(found.size(), Kind::note);
    for (auto entry = begin; entry != end; ++entry) {
      if (entry->kind == Kind::gap) current = kNone;
      if (entry->place) current = *entry->place;
      if (entry->place || current == kNone || !is_telling(*entry)) continue;
      if (entry->kind < kinds[current]) continue;
      found[current] = entry->error;
      kinds[current] = entry->kind;
    }
  }

  // If one message failed, the error in the log is its error, unless it names another message.
  void take_only() {
    if (std::ranges::count(failed_, true) != 1) return;
    const auto place = static_cast<std::size_t>(std::ranges::find(failed_, true) - failed_.begin());
    for (const Kind kind : {Kind::exception, Kind::named}) {
      for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
        if (!is_open(place) || entry->kind != kind || entry->place) continue;
        errors_[place] = entry->error;
      }
    }
  }

  const std::vector<LogEntry> entries_;
  const std::vector<bool>& failed_;
  const std::vector<bool>& known_;
  Errors errors_;
};

}  // namespace

Errors log_causes(std::string_view log, std::span<const std::string_view> message_ids,
                  const std::vector<bool>& failed, const std::vector<bool>& known) {
  const IdPlaces places = id_places(message_ids);
  return CauseFinder(read_log_entries(log, places, failed), failed, known).find();
}

}  // namespace redrive::events
