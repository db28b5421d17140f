#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/catalogue/documents.h"
#include "core/engine/engine.h"
#include "observe/alarms/alarm.h"
#include "observe/alarms/delivery.h"

namespace redrive::alarms {

// An entry of an alarm's history.
struct HistoryItem {
  enum class Kind : std::uint8_t { configuration, state, action };

  Timestamp wall;
  Kind kind = Kind::state;
  std::string summary;               // Empty for deliveries: see summary_of().
  std::string data;                  // JSON in CloudWatch's format.
  std::optional<Delivery> delivery;  // For an action.
};
std::string_view name_of(HistoryItem::Kind kind);

inline constexpr std::size_t kHistoryKept = 50;  // Maximum number of items per alarm,
inline constexpr Duration kHistoryFor = std::chrono::days(14);  // and their maximum age.

// The alarm's name in the catalogue.
std::string entry_of(const AlarmKey& key);

// The names of an alarm's items in the catalogue, oldest first. Call in a turn.
std::vector<std::string> item_names(const queue::State& state, const AlarmKey& key);
std::optional<HistoryItem> decode_item(const std::string& json);

// Records changes of an alarm, its history and its notices atomically. Lives within one turn.
class HistoryWriter {
 public:
  HistoryWriter(engine::Turn& turn, AlarmKey key);

  // Returns the item's name.
  std::string add(HistoryItem item);
  // Queues a notice. Earlier undelivered ones for the same target are superseded.
  PendingDelivery queue(const Target& target, const Notice& notice);
  void put(queue::EntryKind kind, std::string name, std::string value);
  void remove(queue::EntryKind kind, std::string name);
  // Drops items beyond the limits and records everything.
  void commit();

 private:
  void supersede(const std::string& target_id);

  engine::Turn& turn_;
  const AlarmKey key_;
  std::vector<std::string> names_;
  std::uint64_t last_ = 0;  // Number of the latest item.
  catalogue::Edits edits_;
};

// Removes an alarm's history, including open deliveries, when `writer` commits.
void forget_history(const queue::State& state, const AlarmKey& key, HistoryWriter& writer);

// Records the result of a delivery. Returns false if it is no longer open: superseded, or its alarm
// was removed.
bool record_delivery(engine::Engine& engine, const PendingDelivery& pending);
bool is_open(engine::Engine& engine, const PendingDelivery& pending);

// A delivery that was open when the server stopped; its target is looked up by `target_id`.
struct OpenDelivery {
  std::string item;
  AlarmKey alarm;
  Notice notice;
  Delivery delivery;
};
std::vector<OpenDelivery> read_open_deliveries(engine::Engine& engine);

// The latest delivery of each alarm to each target, by target id, with the item's name.
using LatestDeliveries =
    std::map<std::pair<AlarmKey, std::string>, std::pair<std::string, Delivery>>;
LatestDeliveries read_latest_deliveries(engine::Engine& engine);

}  // namespace redrive::alarms
