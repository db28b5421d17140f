#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alarms/alarm.h"
#include "alarms/history.h"
#include "engine/engine.h"

namespace redrive::alarms {

// A change of an alarm, recorded as one with its history and the notices that it causes.
struct AlarmEvent {
  HistoryItem item;
  std::optional<Condition> condition;  // The new one of an alarm in the book.
  std::optional<Notice> notice;
  std::vector<Target> targets;  // Of the notice.
  // A document of the catalogue (kind setting) to be replaced, or removed if it has no value.
  struct Setting {
    std::string name;
    std::optional<std::string> value;
  };
  std::optional<Setting> setting;
};

// The alarms in the engine's catalogue, each with its state; what is kept here is a copy of what
// was read last. From any thread.
class Book {
 public:
  static constexpr std::size_t kAlarmsMax = 5'000;

  explicit Book(engine::Engine& engine) : engine_(engine) {}

  std::vector<Alarm> all() const;
  std::optional<Alarm> find(const AlarmKey& key) const;
  // Makes an alarm, or gives one other settings; its state stays, and its tags unless it is new.
  Result<void> put(Alarm alarm);
  // Changes what is there, in one step; an error when there is none.
  Result<void> change(const AlarmKey& key, const std::function<void(Alarm&)>& edit);
  bool remove(const AlarmKey& key);
  // Records an event and returns the deliveries that it queued. Nothing when the event has a
  // condition and the alarm is gone.
  std::optional<std::vector<Errand>> record(const AlarmKey& key, const AlarmEvent& event);

  // The latest first.
  std::vector<HistoryItem> history(const AlarmKey& key) const;

 private:
  engine::Engine& engine_;
  mutable std::mutex mutex_;                    // Taken before the turn. Guards the rest.
  mutable std::uint64_t version_ = UINT64_MAX;  // Of the catalogue, when it was read.
  mutable std::vector<Alarm> alarms_;
};

}  // namespace redrive::alarms
