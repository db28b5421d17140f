#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "core/engine/engine.h"
#include "observe/alarms/alarm.h"
#include "observe/alarms/history.h"

namespace redrive::alarms {

// A change of an alarm, committed atomically with its history item and the notices it causes.
struct AlarmEvent {
  HistoryItem item;
  std::optional<Condition> condition;  // The new condition, for an alarm in the catalogue.
  std::optional<Notice> notice;
  std::vector<Target> targets;  // Of the notice.
  // A catalogue document (kind setting) to replace, or to remove if it has no value.
  struct Setting {
    std::string name;
    std::optional<std::string> value;
  };
  std::optional<Setting> setting;
};

// The alarms in the engine's catalogue with their states; caches what was last read. Thread-safe.
class AlarmStore {
 public:
  static constexpr std::size_t kAlarmsMax = 5'000;

  explicit AlarmStore(engine::Engine& engine) : engine_(engine) {}

  std::vector<Alarm> all() const;
  std::optional<Alarm> find(const AlarmKey& key) const;
  // Creates an alarm or updates its settings; an existing alarm keeps its state and its tags.
  Result<void> put(Alarm alarm);
  // Edits an existing alarm atomically; fails if it does not exist.
  Result<void> change(const AlarmKey& key, const std::function<void(Alarm&)>& edit);
  bool remove(const AlarmKey& key);
  // Records an event and returns the deliveries it queued. nullopt if the event has a condition and
  // the alarm does not exist.
  std::optional<std::vector<PendingDelivery>> record(const AlarmKey& key, const AlarmEvent& event);

  // Newest first.
  std::vector<HistoryItem> history(const AlarmKey& key) const;

 private:
  engine::Engine& engine_;
  mutable Mutex mutex_;  // Acquired before the turn.
  mutable std::uint64_t version_ GUARDED_BY(mutex_) =
      UINT64_MAX;  // Catalogue version when it was read.
  mutable std::vector<Alarm> alarms_ GUARDED_BY(mutex_);
};

}  // namespace redrive::alarms
