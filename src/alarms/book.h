#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alarms/alarm.h"
#include "engine/engine.h"

namespace redrive::alarms {

// Something that happened to an alarm.
struct HistoryItem {
  enum class Kind : std::uint8_t { configuration, state, action };

  Timestamp wall;
  Kind kind = Kind::state;
  std::string summary;
  std::string data;  // JSON.
};
std::string_view name_of(HistoryItem::Kind kind);

// Whose alarm, and which.
struct AlarmKey {
  std::string account;
  std::string region;
  std::string name;

  friend auto operator<=>(const AlarmKey&, const AlarmKey&) = default;
};

// The alarms in the engine's catalogue, each with its state; what is kept here is a copy of what
// was read last. From any thread.
class Book {
 public:
  static constexpr std::size_t kAlarmsMax = 5'000;
  static constexpr std::size_t kHistoryKept = 50;                 // Of each alarm,
  static constexpr Duration kHistoryFor = std::chrono::days(14);  // and for so long.

  explicit Book(engine::Engine& engine) : engine_(engine) {}

  std::vector<Alarm> all() const;
  std::optional<Alarm> find(const AlarmKey& key) const;
  // Makes an alarm, or gives one other settings; its state stays, and its tags unless it is new.
  Result<void> put(Alarm alarm);
  // Changes what is there, in one step; an error when there is none.
  Result<void> change(const AlarmKey& key, const std::function<void(Alarm&)>& edit);
  bool remove(const AlarmKey& key);
  // The alarm is in another condition now; `summary` tells of it in its history. False when it is
  // gone.
  bool transition(const AlarmKey& key, const Condition& condition, const std::string& summary);

  void note(const AlarmKey& key, HistoryItem item);
  // The latest first.
  std::vector<HistoryItem> history(const AlarmKey& key) const;

 private:
  engine::Engine& engine_;
  mutable std::mutex mutex_;                    // Taken before the turn. Guards the rest.
  mutable std::uint64_t version_ = UINT64_MAX;  // Of the catalogue, when it was read.
  mutable std::vector<Alarm> alarms_;
};

}  // namespace redrive::alarms
