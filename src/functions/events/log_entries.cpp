#include "functions/events/log_entries.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace redrive::events {
namespace {

using Kind = LogEntry::Kind;

constexpr std::size_t kIdBytes = 36;
constexpr std::size_t kMessageBytesKept = 1024;

bool is_id_character(char c) {
  return hex_digit(c) >= 0 || c == '-';
}

// Calls `found` for every text that looks like a message id.
template <class Found>
void find_ids(std::string_view line, Found found) {
  for (std::size_t at = line.find('-'); at != line.npos; at = line.find('-', at + 1)) {
    if (at < 8 || at - 8 + kIdBytes > line.size()) continue;
    const std::string_view text = line.substr(at - 8, kIdBytes);
    if (text[13] != '-' || text[18] != '-' || text[23] != '-') continue;
    if (!std::ranges::all_of(text, is_id_character)) continue;
    found(text);
    at += kIdBytes - 9;
  }
}

bool contains_word(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) { return lower_ascii(a) == b; };
  return !std::ranges::search(text, lower, same).empty();
}

bool says_failure(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"error", "exception", "fail", "fatal"};
  return std::ranges::any_of(kWords, [&](auto word) { return contains_word(text, word); });
}

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

bool is_frame_line(std::string_view line) {
  const bool indented = line.starts_with(' ') || line.starts_with('\t');
  return indented && trim_left(line).starts_with("at ");
}

// Lines written by the platform.
bool is_platform_line(std::string_view line) {
  for (const std::string_view begin :
       {"START RequestId: ", "END RequestId: ", "REPORT RequestId: "})
    if (line.starts_with(begin)) return true;
  return false;
}

// A line without the logger's prefix: "[ERROR]\tTIME\tREQUEST\ttext" in Python,
// "TIME\tREQUEST\tERROR\ttext" in Node.js.
struct LoggedText {
  std::string_view text;
  bool is_error = false;  // According to its level.
};

bool is_error_level(std::string_view level) {
  if (level.starts_with('[') && level.ends_with(']')) level = level.substr(1, level.size() - 2);
  return level == "ERROR" || level == "CRITICAL" || level == "FATAL";
}

LoggedText without_log_prefix(std::string_view line) {
  std::array<std::string_view, 3> parts;
  std::string_view rest = line;
  for (std::string_view& part : parts) {
    const std::size_t tab = rest.find('\t');
    if (tab == rest.npos || tab > 64) {
      const bool error =
          line.starts_with("[ERROR] ") || line.starts_with("ERROR ") || line.starts_with("ERROR:");
      return {line, error};
    }
    part = rest.substr(0, tab);
    rest.remove_prefix(tab + 1);
  }
  if (parts[0].starts_with('[')) return {rest, is_error_level(parts[0])};
  return {rest, is_error_level(parts[2])};
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// Where an error's name starts in a line: "saving failed: KeyError: 'x'".
std::size_t find_error_name(std::string_view text) {
  const wire::ErrorHeader header = wire::split_header(text);
  const bool at_front = !header.type.empty() && !header.message.empty() &&
                        ((header.type[0] >= 'A' && header.type[0] <= 'Z') ||
                         header.type.find('.') != header.type.npos);
  const auto level = [](std::string_view type) { return type == "ERROR" || type == "WARNING"; };
  if (at_front && !level(header.type)) return text.find(header.type);
  for (const std::string_view ending : {"Error", "Exception"}) {
    for (std::size_t at = text.find(ending); at != text.npos; at = text.find(ending, at + 1)) {
      const std::size_t end = at + ending.size();
      if (end < text.size() && text[end] != ':' && text[end] != '(') continue;
      std::size_t begin = at;
      while (begin > 0 && is_word_character(text[begin - 1])) --begin;
      return begin;
    }
  }
  return text.npos;
}

class EntryReader {
 public:
  EntryReader(std::string_view log, const IdPlaces& places, const std::vector<bool>& failed)
      : lines_(split(log, '\n')), places_(places), failed_(failed) {}

  std::vector<LogEntry> read() {
    for (std::size_t at = 0; at < lines_.size();) at = entry(at);
    return std::move(entries_);
  }

 private:
  std::size_t entry(std::size_t at) {
    const std::string_view line = lines_[at];
    if (line.empty() || is_platform_line(line)) return at + 1;
    if (line.starts_with("... ") && line.ends_with(" bytes omitted ...")) {
      entries_.push_back({.kind = Kind::gap});
      return at + 1;
    }
    const LoggedText logged = without_log_prefix(line);
    if (logged.text.starts_with('{') && json(at, logged.text)) return at + 1;
    if (line.find('\r') != line.npos && several_lines(at, logged.text)) return at + 1;
    if (line.find("Traceback (most recent call last):") != line.npos) return python(at);
    if (at + 1 < lines_.size() && is_frame_line(lines_[at + 1])) return at_frames(at);
    return plain(at, logged);
  }

  // A structured log line.
  bool json(std::size_t at, std::string_view text) {
    simdjson::dom::element document;
    if (parser_.parse(text.data(), text.size()).get(document) != simdjson::SUCCESS) return false;
    wire::ReportedError error = error_in(document);
    const bool found = !error.empty();
    LogEntry entry = about(at, at + 1);
    entry.kind = found ? Kind::exception : Kind::note;
    entry.error = std::move(error);
    add(std::move(entry));
    return true;
  }

  static wire::ReportedError error_in(simdjson::dom::element document) {
    for (const std::string_view name : {"error", "err", "exception", "message"}) {
      simdjson::dom::object object;
      simdjson::dom::element value;
      if (document[name].get(value) != simdjson::SUCCESS || value.get(object) != simdjson::SUCCESS)
        continue;
      auto error = wire::read_error(value, wire::ErrorFields::object);
      if (!error.type.empty() || !error.stack.empty()) return error;
    }
    auto error = wire::read_error(document, wire::ErrorFields::document);
    return error.type.empty() && error.stack.empty() ? wire::ReportedError() : error;
  }

  // Lambda's Node.js logs use \r for line breaks within one entry.
  bool several_lines(std::size_t at, std::string_view text) {
    std::string block(text);
    std::ranges::replace(block, '\r', '\n');
    const std::vector<std::string_view> parts = split(block, '\n');
    const auto frame = std::ranges::find_if(parts, is_frame_line);
    if (frame == parts.end() || frame == parts.begin()) return false;
    std::string trace(from_error_name(parts.front()));
    for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
      if (part->starts_with("} {")) break;  // The next printed value.
      if (is_frame_line(*part) || is_cause_line(*part)) trace.append("\n").append(*part);
    }
    add_exception(about(at, at + 1), wire::read_trace(trace));
    return true;
  }

  static bool is_cause_line(std::string_view line) {
    const std::string_view text = trim_left(line);
    return text.starts_with("[cause]: ") || text.starts_with("Caused by: ");
  }

  static std::string_view from_error_name(std::string_view header) {
    const std::size_t begin = find_error_name(header);
    return begin == header.npos ? header : header.substr(begin);
  }

  std::size_t python(std::size_t begin) {
    std::size_t end = begin + 1;
    bool named = false;
    for (; end < lines_.size(); ++end) {
      const std::string_view line = lines_[end];
      const bool indented = line.starts_with(' ') || line.starts_with('\t');
      if (indented && !named) continue;
      if (!named && is_platform_line(line)) break;
      if (!named && !line.empty()) {
        named = true;
        continue;
      }
      if (!goes_on(end)) break;
      named = false;
    }
    std::string trace;
    for (std::size_t i = begin; i < end; ++i) trace.append(lines_[i]).append("\n");
    LogEntry entry = about(begin, end);
    wire::ReportedError error = wire::read_trace(trace);
    if (error.type.empty()) name_by_line_before(begin, error);
    take_note_before(begin, entry);
    add_exception(std::move(entry), std::move(error));
    return end;
  }

  // Whether the next lines separate one error of a Python chain from the next.
  bool goes_on(std::size_t& at) const {
    std::size_t next = at;
    while (next < lines_.size() && lines_[next].empty()) ++next;
    if (next >= lines_.size()) return false;
    const bool chain = lines_[next].starts_with("During handling of the above exception") ||
                       lines_[next].starts_with("The above exception was the direct cause");
    if (!chain) return false;
    ++next;
    while (next < lines_.size() && lines_[next].empty()) ++next;
    if (next < lines_.size() && lines_[next].starts_with("Traceback")) at = next;
    return true;
  }

  void name_by_line_before(std::size_t at, wire::ReportedError& error) const {
    if (at == 0) return;
    const std::string_view text = without_log_prefix(lines_[at - 1]).text;
    const std::size_t begin = find_error_name(text);
    if (begin == text.npos) return;
    const wire::ErrorHeader header = wire::split_header(text.substr(begin));
    error.type = header.type;
    error.message = header.message;
  }

  // Python's loggers print their message on the line before the trace.
  void take_note_before(std::size_t at, LogEntry& entry) {
    const bool adjacent = at > 0 && last_plain_ == at - 1 && !entries_.empty();
    if (!adjacent || entry.place || entry.several) return;
    const LogEntry& before = entries_.back();
    if (!before.place || !failed_[*before.place]) return;
    entry.place = before.place;
    if (before.kind == Kind::weak || before.kind == Kind::named) entries_.back().kind = Kind::note;
  }

  std::size_t at_frames(std::size_t begin) {
    std::string trace(from_error_name(without_log_prefix(lines_[begin]).text));
    std::size_t end = begin + 1;
    for (; end < lines_.size(); ++end) {
      const std::string_view line = lines_[end];
      const std::string_view text = trim_left(line);
      const bool more = is_frame_line(line) || is_cause_line(line) ||
                        (text.starts_with("... ") && text.ends_with(" more"));
      if (!more) break;
      trace.append("\n").append(line);
    }
    LogEntry entry = about(begin, end);
    take_note_before(begin, entry);
    add_exception(std::move(entry), wire::read_trace(trace));
    return end;
  }

  std::size_t plain(std::size_t at, const LoggedText& logged) {
    LogEntry entry = about(at, at + 1);
    const std::size_t name = find_error_name(logged.text);
    if (name != logged.text.npos) {
      const wire::ErrorHeader header = wire::split_header(logged.text.substr(name));
      const bool typed = header.type.ends_with("Error") || header.type.ends_with("Exception");
      if (typed || logged.is_error) {
        entry.kind = Kind::named;
        entry.error.type = header.type;
        entry.error.message = utf8_prefix(header.message, kMessageBytesKept);
      }
    }
    if (entry.kind == Kind::note &&
        (logged.is_error || (entry.place && says_failure(logged.text)))) {
      entry.kind = Kind::weak;
      entry.error.message = utf8_prefix(logged.text, kMessageBytesKept);
    }
    if (add(std::move(entry))) last_plain_ = at;
    return at + 1;
  }

  LogEntry about(std::size_t begin, std::size_t end) const {
    LogEntry entry;
    for (std::size_t i = begin; i < end; ++i) {
      find_ids(lines_[i], [&](std::string_view id) {
        const auto found = places_.find(id);
        if (found == places_.end() || entry.place == found->second) return;
        entry.several |= entry.place.has_value();
        entry.place = found->second;
      });
    }
    if (entry.several) entry.place.reset();
    return entry;
  }

  void add_exception(LogEntry entry, wire::ReportedError error) {
    entry.kind = error.empty() ? Kind::note : Kind::exception;
    entry.error = std::move(error);
    add(std::move(entry));
  }

  bool add(LogEntry entry) {
    const bool says_nothing = entry.kind == Kind::note && !entry.place;
    if (says_nothing || entry.several) return false;
    entries_.push_back(std::move(entry));
    return true;
  }

  const std::vector<std::string_view> lines_;
  const IdPlaces& places_;
  const std::vector<bool>& failed_;
  simdjson::dom::parser parser_;
  std::vector<LogEntry> entries_;
  // Line of the last entry if it is plain text.
  std::size_t last_plain_ = static_cast<std::size_t>(-1);
};

}  // namespace

IdPlaces id_places(std::span<const std::string_view> message_ids) {
  IdPlaces places;
  places.reserve(message_ids.size());
  for (std::size_t i = 0; i < message_ids.size(); ++i) places.emplace(message_ids[i], i);
  return places;
}

std::vector<LogEntry> read_log_entries(std::string_view log, const IdPlaces& places,
                                       const std::vector<bool>& failed) {
  return EntryReader(log, places, failed).read();
}

}  // namespace redrive::events
