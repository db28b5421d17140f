#include "alarms/book.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wire/decoder.h"
#include "wire/encode.h"

namespace redrive::alarms {
namespace {

using queue::EntryKind;

constexpr std::size_t kReadPerTurn = 64;
constexpr std::string_view kKindNames[] = {"ConfigurationUpdate", "StateUpdate", "Action"};

std::string entry_of(const AlarmKey& key) {
  return entry_name(key.account, key.region, key.name);
}

struct HistoryDocument {
  std::int64_t wall = 0;
  std::int64_t kind = 0;
  std::string_view summary;
  std::string_view data;
};
consteval auto shape_of(HistoryDocument*) {
  using D = HistoryDocument;
  return wire::shape(wire::required("wall", &D::wall),
                     wire::required("kind", &D::kind),
                     wire::required("summary", &D::summary),
                     wire::optional("data", &D::data));
}

std::string encode_item(const HistoryItem& item) {
  const HistoryDocument document{.wall = item.wall.ms(),
                                 .kind = static_cast<std::int64_t>(item.kind),
                                 .summary = item.summary,
                                 .data = item.data};
  std::string out;
  wire::encode_json(out, document);
  return out;
}

std::optional<HistoryItem> decode_item(const std::string& json) {
  std::string padded = json + std::string(64, '\0');
  wire::Decoder decoder;
  HistoryDocument document;
  const std::string_view text = std::string_view(padded).substr(0, json.size());
  if (!wire::decode_json(decoder, text, document)) return std::nullopt;
  if (document.kind < 0 || document.kind > 2) return std::nullopt;
  return HistoryItem{.wall = Timestamp(document.wall),
                     .kind = static_cast<HistoryItem::Kind>(document.kind),
                     .summary = std::string(document.summary),
                     .data = std::string(document.data)};
}

// The items of an alarm stand under its name, a bar, and a number that grows.
std::string item_prefix(const AlarmKey& key) {
  return entry_of(key) + "|";
}

std::vector<std::string> item_names(const queue::State& state, const AlarmKey& key) {
  const std::string prefix = item_prefix(key);
  std::vector<std::string> names;
  for (auto at = state.entries().lower_bound({EntryKind::alarm_history, prefix});
       at != state.entries().end() && at->first.first == EntryKind::alarm_history &&
       at->first.second.starts_with(prefix);
       ++at) {
    // Another alarm's name may begin like this one's, bar included.
    const std::string_view rest = std::string_view(at->first.second).substr(prefix.size());
    if (parse_int<std::uint64_t>(rest)) names.push_back(at->first.second);
  }
  return names;
}

void forget(engine::Turn& turn, EntryKind kind, const std::string& name) {
  turn.commit(queue::EntryRemoved{kind, name});
}

void note_in_turn(engine::Turn& turn, const AlarmKey& key, HistoryItem item) {
  item.wall = turn.stamp().wall;
  const std::string prefix = item_prefix(key);
  std::vector<std::string> names = item_names(turn.state(), key);
  std::uint64_t number = static_cast<std::uint64_t>(item.wall.ms()) * 1000;
  if (!names.empty()) {
    const auto last = parse_int<std::uint64_t>(names.back().substr(prefix.size()));
    number = std::max(number, last.value_or(0) + 1);
  }
  const std::string name = fmt::format("{}{:019}", prefix, number);
  const std::string value = encode_item(item);
  turn.commit(queue::EntryPut{EntryKind::alarm_history, name, value});
  const auto oldest = static_cast<std::uint64_t>((item.wall - Book::kHistoryFor).ms()) * 1000;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto of = parse_int<std::uint64_t>(names[i].substr(prefix.size())).value_or(0);
    const bool beyond = names.size() - i >= Book::kHistoryKept;
    if (beyond || of < oldest) forget(turn, EntryKind::alarm_history, names[i]);
  }
}

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
  turn.commit(queue::EntryPut{EntryKind::alarm, name, value});
}

}  // namespace

std::string_view name_of(HistoryItem::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

// Read anew, some in each turn, only when the catalogue has changed.
std::vector<Alarm> Book::all() const {
  const std::lock_guard lock(mutex_);
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

std::optional<Alarm> Book::find(const AlarmKey& key) const {
  return engine_.turn(
      [&](engine::Turn& turn) { return find_in_turn(turn.state(), entry_of(key)); });
}

Result<void> Book::put(Alarm alarm) {
  return engine_.turn([&](engine::Turn& turn) -> Result<void> {
    const AlarmKey key{alarm.account, alarm.region, alarm.name};
    alarm.configured = turn.stamp().wall;
    const auto before = find_in_turn(turn.state(), entry_of(key));
    if (before) {
      alarm.condition = before->condition;
      alarm.tags = before->tags;
    } else {
      const auto& entries = turn.state().entries();
      const auto first = entries.lower_bound({EntryKind::alarm, ""});
      const auto last = entries.lower_bound({EntryKind::alarm_history, ""});
      if (static_cast<std::size_t>(std::distance(first, last)) >= kAlarmsMax) {
        return fail(ErrorCode::over_limit,
                    fmt::format("There are {} alarms, which is as many as can be.", kAlarmsMax));
      }
      alarm.condition.updated = alarm.condition.transitioned = alarm.configured;
    }
    store(turn, alarm);
    note_in_turn(
        turn,
        key,
        {.kind = HistoryItem::Kind::configuration,
         .summary = fmt::format("Alarm \"{}\" {}", alarm.name, before ? "updated" : "created")});
    return {};
  });
}

Result<void> Book::change(const AlarmKey& key, const std::function<void(Alarm&)>& edit) {
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

bool Book::remove(const AlarmKey& key) {
  return engine_.turn([&](engine::Turn& turn) {
    const std::string entry = entry_of(key);
    if (turn.state().find_entry(EntryKind::alarm, entry) == nullptr) return false;
    forget(turn, EntryKind::alarm, entry);
    for (const std::string& name : item_names(turn.state(), key)) {
      forget(turn, EntryKind::alarm_history, name);
    }
    return true;
  });
}

bool Book::transition(const AlarmKey& key, const Condition& condition, const std::string& summary) {
  return engine_.turn([&](engine::Turn& turn) {
    auto alarm = find_in_turn(turn.state(), entry_of(key));
    if (!alarm) return false;
    alarm->condition = condition;
    store(turn, *alarm);
    note_in_turn(
        turn,
        key,
        {.kind = HistoryItem::Kind::state, .summary = summary, .data = condition.reason_data});
    return true;
  });
}

void Book::note(const AlarmKey& key, HistoryItem item) {
  engine_.turn([&](engine::Turn& turn) { note_in_turn(turn, key, std::move(item)); });
}

std::vector<HistoryItem> Book::history(const AlarmKey& key) const {
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
  return items;
}

}  // namespace redrive::alarms
