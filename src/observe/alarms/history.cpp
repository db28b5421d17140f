#include "observe/alarms/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/padded_text.h"
#include "base/text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "net/wire/shape.h"

namespace redrive::alarms {
namespace {

using queue::EntryKind;

constexpr std::size_t kItemsPerTurn = 64;
constexpr std::string_view kKindNames[] = {"ConfigurationUpdate", "StateUpdate", "Action"};
constexpr std::string_view kOpenPrefix = "alarm-delivery/";
// Items of earlier versions, which did not record whether the notice was delivered.
constexpr std::string_view kUnrecorded = "Told ";

struct DeliveryDocument {
  std::int64_t state = 0;
  std::string_view target;
  std::string_view target_id;
  std::string_view notice;
  std::int64_t attempts = 0;
  std::string_view status;
  std::string_view error;
  std::int64_t next = 0;
  std::int64_t state_changed = 0;
};
consteval auto shape_of(DeliveryDocument*) {
  using D = DeliveryDocument;
  return wire::shape(wire::required("state", &D::state),
                     wire::required("target", &D::target),
                     wire::required("targetId", &D::target_id),
                     wire::optional("notice", &D::notice),
                     wire::required("attempts", &D::attempts),
                     wire::optional("status", &D::status),
                     wire::optional("error", &D::error),
                     wire::optional("next", &D::next),
                     wire::optional("stateChanged", &D::state_changed));
}

struct HistoryDocument {
  std::int64_t wall = 0;
  std::int64_t kind = 0;
  std::string_view summary;
  std::string_view data;
  std::optional<DeliveryDocument> delivery;
};
consteval auto shape_of(HistoryDocument*) {
  using D = HistoryDocument;
  return wire::shape(wire::required("wall", &D::wall),
                     wire::required("kind", &D::kind),
                     wire::required("summary", &D::summary),
                     wire::optional("data", &D::data),
                     wire::optional("delivery", &D::delivery));
}

DeliveryDocument document_of(const Delivery& delivery) {
  return {.state = static_cast<std::int64_t>(delivery.state),
          .target = delivery.target,
          .target_id = delivery.target_id,
          .notice = delivery.notice,
          .attempts = delivery.attempts,
          .status = delivery.status,
          .error = delivery.error,
          .next = delivery.next.ms(),
          .state_changed = delivery.state_changed.ms()};
}

Delivery delivery_of(const DeliveryDocument& document, Timestamp at) {
  return {.state = static_cast<DeliveryState>(document.state),
          .target = std::string(document.target),
          .target_id = std::string(document.target_id),
          .notice = std::string(document.notice),
          .attempts = static_cast<std::uint32_t>(document.attempts),
          .status = std::string(document.status),
          .error = std::string(document.error),
          .at = at,
          .next = Timestamp(document.next),
          .state_changed = Timestamp(document.state_changed)};
}

std::string encode_item(const HistoryItem& item) {
  HistoryDocument document{.wall = item.wall.ms(),
                           .kind = static_cast<std::int64_t>(item.kind),
                           .summary = item.summary,
                           .data = item.data,
                           .delivery = std::nullopt};
  if (item.delivery) document.delivery = document_of(*item.delivery);
  std::string out;
  wire::encode_json(out, document);
  return out;
}

HistoryItem item_of(const Delivery& delivery) {
  return {.wall = delivery.at,
          .kind = HistoryItem::Kind::action,
          .summary = {},
          .data = {},
          .delivery = delivery};
}

// An alarm's items are named after it, followed by a bar and an increasing number.
std::string item_prefix(const AlarmKey& key) {
  return entry_of(key) + "|";
}

std::string open_name(std::string_view item) {
  return fmt::format("{}{}", kOpenPrefix, item);
}

// Accounts and regions contain no slashes; names of alarms may contain slashes and bars.
std::optional<AlarmKey> alarm_of_item(std::string_view item) {
  const std::size_t account = item.find('/');
  const std::size_t region = account == item.npos ? item.npos : item.find('/', account + 1);
  const std::size_t bar = item.rfind('|');
  if (region == item.npos || bar == item.npos || bar < region) return std::nullopt;
  return AlarmKey{std::string(item.substr(0, account)),
                  std::string(item.substr(account + 1, region - account - 1)),
                  std::string(item.substr(region + 1, bar - region - 1))};
}

struct FoundEntry {
  std::string name;
  std::string value;
};

// Calls `use` for all entries of a kind with this prefix: reads some per turn and calls outside it.
template <class Use>
void for_each_entry(engine::Engine& engine, EntryKind kind, std::string_view prefix, Use use) {
  std::pair<EntryKind, std::string> after{kind, std::string(prefix)};
  for (bool more = true; more; engine.give_way()) {
    std::vector<FoundEntry> found;
    more = engine.turn([&](engine::Turn& turn) {
      const auto& entries = turn.state().entries();
      auto at = entries.upper_bound(after);
      for (; at != entries.end() && at->first.first == kind && at->first.second.starts_with(prefix);
           ++at) {
        if (found.size() == kItemsPerTurn) return true;
        found.push_back({at->first.second, at->second});
        after = at->first;
      }
      return false;
    });
    for (const FoundEntry& entry : found) use(entry);
  }
}

std::optional<Delivery> delivery_at(const queue::State& state, const std::string& item) {
  const std::string* const value = state.find_entry(EntryKind::alarm_history, item);
  const auto found = value == nullptr ? std::nullopt : decode_item(*value);
  return found ? found->delivery : std::nullopt;
}

}  // namespace

std::string_view name_of(HistoryItem::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string entry_of(const AlarmKey& key) {
  return entry_name(key.account, key.region, key.name);
}

std::vector<std::string> item_names(const queue::State& state, const AlarmKey& key) {
  const std::string prefix = item_prefix(key);
  std::vector<std::string> names;
  for (auto at = state.entries().lower_bound({EntryKind::alarm_history, prefix});
       at != state.entries().end() && at->first.first == EntryKind::alarm_history &&
       at->first.second.starts_with(prefix);
       ++at) {
    // Another alarm's name may start like this one's, including the bar.
    const std::string_view rest = std::string_view(at->first.second).substr(prefix.size());
    if (parse_int<std::uint64_t>(rest)) names.push_back(at->first.second);
  }
  return names;
}

std::optional<HistoryItem> decode_item(const std::string& json) {
  const PaddedText padded(json);
  wire::Decoder decoder;
  HistoryDocument document;
  if (!wire::decode_json(decoder, padded, document)) return std::nullopt;
  if (document.kind < 0 || document.kind > 2) return std::nullopt;
  HistoryItem item{.wall = Timestamp(document.wall),
                   .kind = static_cast<HistoryItem::Kind>(document.kind),
                   .summary = std::string(document.summary),
                   .data = std::string(document.data),
                   .delivery = std::nullopt};
  if (document.delivery) {
    if (document.delivery->state < 0 || document.delivery->state > 4) return std::nullopt;
    item.delivery = delivery_of(*document.delivery, item.wall);
  } else if (item.kind == HistoryItem::Kind::action && item.summary.starts_with(kUnrecorded)) {
    item.summary = fmt::format("Queued for {}; its delivery was not recorded",
                               item.summary.substr(kUnrecorded.size()));
  }
  return item;
}

HistoryWriter::HistoryWriter(engine::Turn& turn, AlarmKey key)
    : turn_(turn), key_(std::move(key)), names_(item_names(turn.state(), key_)) {
  const std::uint64_t first = static_cast<std::uint64_t>(turn.stamp().wall.ms()) * 1000;
  last_ = first == 0 ? 0 : first - 1;
  if (names_.empty()) return;
  const auto latest = parse_int<std::uint64_t>(names_.back().substr(item_prefix(key_).size()));
  last_ = std::max(last_, latest.value_or(0));
}

std::string HistoryWriter::add(HistoryItem item) {
  item.wall = turn_.stamp().wall;
  const std::string name = fmt::format("{}{:019}", item_prefix(key_), ++last_);
  names_.push_back(name);
  put(EntryKind::alarm_history, name, encode_item(item));
  return name;
}

PendingDelivery HistoryWriter::queue(const Target& target, const Notice& notice) {
  PendingDelivery pending{
      .item = {}, .alarm = key_, .target = target, .notice = notice, .delivery = {}};
  pending.delivery.target = shown_target(target.text);
  pending.delivery.target_id = target_id(target.text);
  pending.delivery.notice = notice.title;
  pending.delivery.at = pending.delivery.state_changed = turn_.stamp().wall;
  supersede(pending.delivery.target_id);
  pending.item = add(item_of(pending.delivery));
  put(EntryKind::setting, open_name(pending.item), encode(notice));
  return pending;
}

void HistoryWriter::supersede(const std::string& target_id) {
  for (const std::string& name : names_) {
    if (turn_.state().find_entry(EntryKind::setting, open_name(name)) == nullptr) continue;
    auto delivery = delivery_at(turn_.state(), name);
    if (!delivery || delivery->target_id != target_id) continue;
    delivery->state = DeliveryState::superseded;
    delivery->at = turn_.stamp().wall;
    put(EntryKind::alarm_history, name, encode_item(item_of(*delivery)));
    remove(EntryKind::setting, open_name(name));
  }
}

void HistoryWriter::put(EntryKind kind, std::string name, std::string value) {
  edits_.put(kind, std::move(name), std::move(value));
}

void HistoryWriter::remove(EntryKind kind, std::string name) {
  edits_.remove(kind, std::move(name));
}

void HistoryWriter::commit() {
  const std::size_t prefix = item_prefix(key_).size();
  const auto oldest = static_cast<std::uint64_t>(
                          std::max<std::int64_t>(0, (turn_.stamp().wall - kHistoryFor).ms())) *
                      1000;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto number = parse_int<std::uint64_t>(names_[i].substr(prefix)).value_or(0);
    if (names_.size() - i <= kHistoryKept && number >= oldest) continue;
    // Keep the item of an open delivery; there is at most one per target.
    if (turn_.state().find_entry(EntryKind::setting, open_name(names_[i])) != nullptr) continue;
    remove(EntryKind::alarm_history, names_[i]);
  }
  edits_.commit(turn_);
}

void forget_history(const queue::State& state, const AlarmKey& key, HistoryWriter& writer) {
  for (const std::string& name : item_names(state, key)) {
    writer.remove(EntryKind::alarm_history, name);
    if (state.find_entry(EntryKind::setting, open_name(name)) != nullptr) {
      writer.remove(EntryKind::setting, open_name(name));
    }
  }
}

bool record_delivery(engine::Engine& engine, const PendingDelivery& pending) {
  return engine.turn([&](engine::Turn& turn) {
    const std::string open = open_name(pending.item);
    const bool was_open = turn.state().find_entry(EntryKind::setting, open) != nullptr;
    // A successful delivery is recorded even if it was superseded meanwhile.
    const bool keep = was_open || pending.delivery.state == DeliveryState::delivered;
    const bool has_item =
        turn.state().find_entry(EntryKind::alarm_history, pending.item) != nullptr;
    const std::string value = encode_item(item_of(pending.delivery));
    catalogue::Edits edits;
    if (keep && has_item) edits.put(EntryKind::alarm_history, pending.item, value);
    if (was_open && !pending.delivery.is_open()) edits.remove(EntryKind::setting, open);
    edits.commit(turn);
    return was_open;
  });
}

bool is_open(engine::Engine& engine, const PendingDelivery& pending) {
  return engine.turn([&](engine::Turn& turn) {
    return turn.state().find_entry(EntryKind::setting, open_name(pending.item)) != nullptr;
  });
}

std::vector<OpenDelivery> read_open_deliveries(engine::Engine& engine) {
  std::vector<OpenDelivery> open;
  for_each_entry(engine, EntryKind::setting, kOpenPrefix, [&](const FoundEntry& entry) {
    const std::string item = entry.name.substr(kOpenPrefix.size());
    const auto alarm = alarm_of_item(item);
    auto notice = decode_notice(entry.value);
    auto delivery =
        engine.turn([&](engine::Turn& turn) { return delivery_at(turn.state(), item); });
    if (!alarm || !notice || !delivery) return;
    open.push_back({item, *alarm, *std::move(notice), *std::move(delivery)});
  });
  return open;
}

LatestDeliveries read_latest_deliveries(engine::Engine& engine) {
  LatestDeliveries latest;
  for_each_entry(engine, EntryKind::alarm_history, "", [&](const FoundEntry& entry) {
    const auto item = decode_item(entry.value);
    const auto alarm = alarm_of_item(entry.name);
    if (!item || !item->delivery || !alarm) return;
    latest[{*alarm, item->delivery->target_id}] = {entry.name, *item->delivery};
  });
  return latest;
}

}  // namespace redrive::alarms
