#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alarms/alarm.h"
#include "alarms/delivery.h"
#include "engine/engine.h"

namespace redrive::alarms {

// Something that happened to an alarm.
struct HistoryItem {
  enum class Kind : std::uint8_t { configuration, state, action };

  Timestamp wall;
  Kind kind = Kind::state;
  std::string summary;               // Empty for deliveries: see summary_of().
  std::string data;                  // JSON, as CloudWatch forms it.
  std::optional<Delivery> delivery;  // Of an action.
};
std::string_view name_of(HistoryItem::Kind kind);

inline constexpr std::size_t kHistoryKept = 50;                 // Items of each alarm,
inline constexpr Duration kHistoryFor = std::chrono::days(14);  // and for so long.

// The name of an alarm in the catalogue.
std::string entry_of(const AlarmKey& key);

// The items of an alarm in the catalogue, the oldest first. In turn.
std::vector<std::string> item_names(const queue::State& state, const AlarmKey& key);
std::optional<HistoryItem> decode_item(const std::string& json);

// Changes of an alarm, its history and its notices, recorded as one. Lives within one turn.
class HistoryWriter {
 public:
  HistoryWriter(engine::Turn& turn, AlarmKey key);

  // Returns the item's name.
  std::string add(HistoryItem item);
  // Queues a notice. Earlier ones for the same target that have not arrived are superseded.
  Errand queue(const Target& target, const Notice& notice);
  void put(queue::EntryKind kind, std::string name, std::string value);
  void remove(queue::EntryKind kind, std::string name);
  // Drops items beyond the limits, and records everything.
  void commit();

 private:
  void supersede(const std::string& target_id);

  engine::Turn& turn_;
  const AlarmKey key_;
  std::vector<std::string> names_;
  std::uint64_t last_ = 0;  // Number of the latest item.
  std::deque<std::string> texts_;
  std::vector<queue::Change> changes_;
};

// Drops an alarm's past, open deliveries included, when `writer` commits.
void forget_history(const queue::State& state, const AlarmKey& key, HistoryWriter& writer);

// Records what became of a delivery. False when it is no longer open: it was superseded, or its
// alarm was removed.
bool record_delivery(engine::Engine& engine, const Errand& errand);
bool is_open(engine::Engine& engine, const Errand& errand);

// A delivery that was open when the server stopped; its target is to be found by `target_id`.
struct OpenDelivery {
  std::string item;
  AlarmKey alarm;
  Notice notice;
  Delivery delivery;
};
std::vector<OpenDelivery> read_open_deliveries(engine::Engine& engine);

// The latest delivery of each alarm to each target, by the target's id, with the item's name.
using LatestDeliveries =
    std::map<std::pair<AlarmKey, std::string>, std::pair<std::string, Delivery>>;
LatestDeliveries read_latest_deliveries(engine::Engine& engine);

}  // namespace redrive::alarms
