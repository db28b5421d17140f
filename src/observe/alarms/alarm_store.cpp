#include "observe/alarms/alarm_store.h"
#include "core/catalogue/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace redrive::alarms {
namespace {

using queue::EntryKind;

constexpr std::size_t kReadPerTurn = 64;

std::optional<Alarm> find_in_turn(const queue::State& state, const std::string& entry) {
  const std::string* const value = state.find_entry(EntryKind::alarm, entry);
  if (value == nullptr) return std::nullopt;
  auto alarm = decode_alarm(*value);
  if (!alarm) return std::nullopt;
  return *std::move(alarm);
}

void store(engine::Turn& turn, const Alarm& alarm) {
  const std::string value = encode(alarm);
  const std::string name = entry_name(alarm.account, alarm.region, alarm.name);
  catalogue::put(turn, EntryKind::alarm, name, value);
}

}  // namespace

// Reloaded in slices, only when the catalogue has changed.
std::vector<Alarm> AlarmStore::all() const {
  const MutexLock lock(mutex_);
  const std::uint64_t version =
      engine_.turn([](engine::Turn& turn) { return turn.state().entries_version(); });
  if (version == version_) return alarms_;
  alarms_.clear();
  std::pair<EntryKind, std::string> after{EntryKind::alarm, ""};
  for (bool more = true; more;) {
    std::vector<std::string> values;
    more = engine_.turn([&](engine::Turn& turn) {
      const auto& entries = turn.state().entries();
      auto at = entries.upper_bound(after);
      for (; at != entries.end() && at->first.first == EntryKind::alarm; ++at) {
        if (values.size() == kReadPerTurn) return true;
        values.push_back(at->second);
        after = at->first;
      }
      return false;
    });
    for (const std::string& value : values) {
      if (auto alarm = decode_alarm(value)) alarms_.push_back(*std::move(alarm));
    }
    if (more) engine_.give_way();
  }
  version_ = version;
  return alarms_;
}

std::optional<Alarm> AlarmStore::find(const AlarmKey& key) const {
  return engine_.turn(
      [&](engine::Turn& turn) { return find_in_turn(turn.state(), entry_of(key)); });
}

Result<void> AlarmStore::put(Alarm alarm) {
  return engine_.turn([&](engine::Turn& turn) -> Result<void> {
    const AlarmKey key{alarm.account, alarm.region, alarm.name};
    alarm.configured = turn.stamp().wall;
    const auto before = find_in_turn(turn.state(), entry_of(key));
    if (before) {
      alarm.condition = before->condition;
      alarm.tags = before->tags;
    } else {
      if (turn.state().count_entries(EntryKind::alarm) >= kAlarmsMax) {
        return fail(ErrorCode::over_limit,
                    fmt::format("The limit of {} alarms is reached.", kAlarmsMax));
      }
      alarm.condition.updated = alarm.condition.transitioned = alarm.configured;
    }
    HistoryWriter writer(turn, key);
    writer.put(EntryKind::alarm, entry_of(key), encode(alarm));
    writer.add(
        {.wall = {},
         .kind = HistoryItem::Kind::configuration,
         .summary = fmt::format("Alarm \"{}\" {}", alarm.name, before ? "updated" : "created"),
         .data = {},
         .delivery = std::nullopt});
    writer.commit();
    return {};
  });
}

Result<void> AlarmStore::change(const AlarmKey& key, const std::function<void(Alarm&)>& edit) {
  return engine_.turn([&](engine::Turn& turn) -> Result<void> {
    auto alarm = find_in_turn(turn.state(), entry_of(key));
    if (!alarm) {
      return fail(ErrorCode::resource_not_found,
                  fmt::format("There is no alarm named {}.", key.name));
    }
    edit(*alarm);
    store(turn, *alarm);
    return {};
  });
}

bool AlarmStore::remove(const AlarmKey& key) {
  return engine_.turn([&](engine::Turn& turn) {
    const std::string entry = entry_of(key);
    if (turn.state().find_entry(EntryKind::alarm, entry) == nullptr) return false;
    HistoryWriter writer(turn, key);
    writer.remove(EntryKind::alarm, entry);
    forget_history(turn.state(), key, writer);
    writer.commit();
    return true;
  });
}

std::optional<std::vector<PendingDelivery>> AlarmStore::record(const AlarmKey& key,
                                                               const AlarmEvent& event) {
  auto deliveries =
      engine_.turn([&](engine::Turn& turn) -> std::optional<std::vector<PendingDelivery>> {
        HistoryWriter writer(turn, key);
        if (event.condition) {
          auto alarm = find_in_turn(turn.state(), entry_of(key));
          if (!alarm) return std::nullopt;
          alarm->condition = *event.condition;
          writer.put(EntryKind::alarm, entry_of(key), encode(*alarm));
        }
        writer.add(event.item);
        std::vector<PendingDelivery> queued;
        for (const Target& target : event.targets) {
          queued.push_back(writer.queue(target, event.notice.value()));
        }
        if (event.setting && event.setting->value) {
          writer.put(EntryKind::setting, event.setting->name, *event.setting->value);
        } else if (event.setting) {
          writer.remove(EntryKind::setting, event.setting->name);
        }
        writer.commit();
        return queued;
      });
  if (!deliveries) return std::nullopt;
  const engine::Sequence after = engine_.appended();
  for (PendingDelivery& pending : *deliveries) pending.after = after;
  return deliveries;
}

std::vector<HistoryItem> AlarmStore::history(const AlarmKey& key) const {
  std::vector<std::string> values = engine_.turn([&](engine::Turn& turn) {
    std::vector<std::string> found;
    for (const std::string& name : item_names(turn.state(), key)) {
      found.push_back(*turn.state().find_entry(EntryKind::alarm_history, name));
    }
    return found;
  });
  std::vector<HistoryItem> items;
  for (auto at = values.rbegin(); at != values.rend(); ++at) {
    if (auto item = decode_item(*at)) items.push_back(*std::move(item));
  }
  // A delivery is sorted by its last attempt.
  std::ranges::stable_sort(items, std::greater(), &HistoryItem::wall);
  return items;
}

}  // namespace redrive::alarms
