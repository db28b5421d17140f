#include "dead_letters/damage/drop_offline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/engine/engine.h"
#include "core/store/change_codec.h"
#include "core/store/check_messages.h"
#include "dead_letters/damage/damage.h"

namespace redrive::dead_letters {
namespace {

using engine::Unreadable;
using queue::MessageKey;

constexpr std::size_t kDroppedPerRecord = 256;

Result<std::vector<Unreadable>> chosen(const store::FoundMessages& found,
                                       const std::optional<std::set<MessageKey>>& keys) {
  std::set<MessageKey> left = keys.value_or(std::set<MessageKey>());
  std::vector<Unreadable> taken;
  for (const store::DamagedBytes& one : found.damaged) {
    if (keys && left.erase(one.key) == 0) continue;
    taken.push_back({.key = one.key, .body = one.body, .error = one.error});
  }
  if (left.empty()) return taken;
  const MessageKey first = *left.begin();
  const std::string_view wrong = found.all.contains(first)
                                     ? "is not damaged; only damaged messages can be dropped"
                                     : "does not exist";
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("message {} {}", number(first), wrong));
}

}  // namespace

Result<journal::CheckReport> drop_offline(journal::Files& files,
                                          const std::optional<std::set<MessageKey>>& keys) {
  const auto found = TRY(store::find_messages(files));
  std::vector<Unreadable> dropped = TRY(chosen(found, keys));
  journal::CheckReport report;
  if (dropped.empty()) return report;
  store::Store store;
  journal::Recovered recovered;
  const auto replay = [&](journal::Sequence, journal::Location at, std::string_view payload) {
    return store.replay(at, payload);
  };
  const auto journal =
      TRY(journal::open_journal(files, {}, replay, recovered, store::explain_damage));
  RETURN_IF_ERROR(store.attach(*journal));
  const ManualClock clock(store.last_stamp().wall);
  RandomIds ids;
  engine::Engine engine({.store = store, .journal = *journal, .clock = clock, .ids = ids}, {});
  Damage damage(engine);
  for (std::span<const Unreadable> left(dropped); !left.empty();) {
    const auto some = left.first(std::min(left.size(), kDroppedPerRecord));
    left = left.subspan(some.size());
    damage.drop_unreadable(some, report.lines);
  }
  RETURN_IF_ERROR(journal->sync_once());
  return report;
}

}  // namespace redrive::dead_letters
