#include "app/event_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "base/calendar.h"
#include "base/text.h"
#include "net/wire/encode.h"

namespace redrive::app {
namespace {

constexpr std::size_t kLinesKept = 4'096;
constexpr std::uint64_t kSwarmLinesPerSecond = 10;
// Separators between the sentence and its fields, between fields, and between a name and its value.
// Removed from texts of clients.
constexpr char kField = '\x1f';
constexpr char kValue = '\x1e';

std::string_view sentence_of(const spdlog::details::log_msg& line) {
  return {line.payload.data(), line.payload.size()};
}

std::string time_of(const spdlog::details::log_msg& line) {
  using std::chrono::milliseconds;
  return format_utc(
      Timestamp(std::chrono::duration_cast<milliseconds>(line.time.time_since_epoch()).count()));
}

std::string_view level_of(const spdlog::details::log_msg& line) {
  const auto name = spdlog::level::to_string_view(line.level);
  return {name.data(), name.size()};
}

bool is_plain(std::string_view value) {
  return !value.empty() && value.find_first_of(" \t\"=") == std::string_view::npos;
}

std::string readable(std::string_view payload) {
  std::string out;
  for (const std::string_view part : split(payload, kField)) {
    const std::size_t at = part.find(kValue);
    if (at == std::string_view::npos) {
      out += part;
      continue;
    }
    const std::string_view value = part.substr(at + 1);
    out.append(" ").append(part.substr(0, at)).append("=");
    if (is_plain(value)) {
      out += value;
    } else {
      wire::append_json_text(out, value);
    }
  }
  return out;
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  if (out.size() > 1) out += ',';
  wire::append_json_text(out, name);
  out += ':';
  wire::append_json_text(out, value);
}

spdlog::level::level_enum level_for(engine::Notice::Weight weight) {
  switch (weight) {
    case engine::Notice::Weight::fault:
      return spdlog::level::err;
    case engine::Notice::Weight::grave:
      return spdlog::level::warn;
    case engine::Notice::Weight::usual:
    case engine::Notice::Weight::swarm:
      return spdlog::level::info;
  }
  return spdlog::level::info;
}

class JsonLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    std::string text = "{";
    append_member(text, "time", time_of(line));
    append_member(text, "level", level_of(line));
    for (const std::string_view part : split(sentence_of(line), kField)) {
      const std::size_t at = part.find(kValue);
      if (at == std::string_view::npos) {
        append_member(text, "event", part);
      } else {
        append_member(text, part.substr(0, at), part.substr(at + 1));
      }
    }
    text += "}\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonLines>();
  }
};

class ReadableLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    std::string text = fmt::format("{} ", time_of(line));
    line.color_range_start = text.size();
    text += level_of(line);
    line.color_range_end = text.size();
    text += fmt::format(" {}\n", readable(sentence_of(line)));
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<ReadableLines>();
  }
};

}  // namespace

class EventLog::Recent final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<documents::KeptLogLine> after(std::uint64_t number, std::size_t max) {
    std::lock_guard lock(mutex_);
    std::vector<documents::KeptLogLine> found;
    const std::uint64_t first = last_ - lines_.size();  // The one before those kept.
    const std::size_t skipped = number > first ? number - first : 0;
    for (std::size_t i = skipped; i < lines_.size() && found.size() < max; ++i) {
      found.push_back(lines_[i]);
    }
    return found;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    lines_.push_back({.number = ++last_,
                      .level = std::string(level_of(line)),
                      .at = time_of(line),
                      .text = readable(sentence_of(line))});
    if (lines_.size() > kLinesKept) lines_.pop_front();
  }
  void flush_() override {}

  std::deque<documents::KeptLogLine> lines_;  // Guarded by the base's mutex_, like the next.
  std::uint64_t last_ = 0;
};

EventLog::EventLog(LogFormat format, std::string_view level) : recent_(std::make_shared<Recent>()) {
  auto shown = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (format == LogFormat::json) {
    shown->set_formatter(std::make_unique<JsonLines>());
  } else {
    shown->set_formatter(std::make_unique<ReadableLines>());
  }
  auto logger =
      std::make_shared<spdlog::logger>("redrive", spdlog::sinks_init_list{shown, recent_});
  logger->set_level(spdlog::level::from_str(std::string(level)));
  spdlog::set_default_logger(std::move(logger));
}

std::optional<std::uint64_t> EventLog::Swarm::admit(std::int64_t now_second) {
  if (now_second != second) {
    second = now_second;
    lines = 0;
  }
  if (++lines <= kSwarmLinesPerSecond) return std::exchange(left_out, 0);
  ++left_out;
  return std::nullopt;
}

EventLog::Swarm* EventLog::swarm_of(engine::Notice::Weight weight) {
  if (weight == engine::Notice::Weight::swarm) return &swarm_;
  return weight == engine::Notice::Weight::fault ? &faults_ : nullptr;
}

void EventLog::write(const engine::Notice& notice) {
  std::uint64_t left_out = 0;
  if (Swarm* const swarm = swarm_of(notice.weight)) {
    const auto second = std::chrono::duration_cast<std::chrono::seconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
    const MutexLock lock(swarm_mutex_);
    const auto admitted = swarm->admit(second);
    if (!admitted) return;
    left_out = *admitted;
  }
  std::string line = notice.event;
  const auto add = [&](std::string_view name, std::string value) {
    std::erase_if(value, [](char c) { return c == kField || c == kValue; });
    line.append(1, kField).append(name).append(1, kValue).append(value);
  };
  for (const auto& [name, value] : notice.fields) add(name, value);
  if (left_out > 0) add("left-out", std::to_string(left_out));
  spdlog::log(level_for(notice.weight), "{}", line);
}

std::vector<documents::KeptLogLine> EventLog::after(std::uint64_t number, std::size_t max) const {
  return recent_->after(number, max);
}

}  // namespace redrive::app
