#include "core/queue/archived.h"

#include <utility>

namespace redrive::queue {

std::optional<ArchivedLineage> ArchivedLineages::put(std::uint64_t place_in_order,
                                                     ArchivedLineage archived) {
  std::optional<ArchivedLineage> out;
  if (const auto same = entries_.find(place_in_order); same != entries_.end()) out = take(same);
  places_.insert_or_assign(archived.message_id, place_in_order);
  by_lineage_.insert({archived.lineage, place_in_order});
  entries_.emplace(place_in_order, std::move(archived));
  if (entries_.size() > kMax) out = take(entries_.begin());
  return out;
}

ArchivedLineage ArchivedLineages::take(std::map<std::uint64_t, ArchivedLineage>::iterator at) {
  const auto known = places_.find(at->second.message_id);
  if (known != places_.end() && known->second == at->first) places_.erase(known);
  by_lineage_.erase({at->second.lineage, at->first});
  ArchivedLineage taken = std::move(at->second);
  entries_.erase(at);
  return taken;
}

void ArchivedLineages::note_restored(const Uuid& message_id, Timestamp wall) {
  const auto known = places_.find(message_id);
  if (known != places_.end()) entries_.at(known->second).restored_wall = wall;
}

const ArchivedLineage* ArchivedLineages::find(const Uuid& message_id) const {
  const auto known = places_.find(message_id);
  return known == places_.end() ? nullptr : &entries_.at(known->second);
}

std::vector<const ArchivedLineage*> ArchivedLineages::of(const Uuid& lineage) const {
  std::vector<const ArchivedLineage*> found;
  for (auto at = by_lineage_.lower_bound({lineage, 0});
       at != by_lineage_.end() && at->first == lineage;
       ++at) {
    found.push_back(&entries_.at(at->second));
  }
  return found;
}

}  // namespace redrive::queue
