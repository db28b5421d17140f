// Bits that flip on disk, under a running or stopped server.

#include "core/journal/format.h"
#include "sim/invariants.h"
#include "sim/violation.h"
#include "sim/world.h"

namespace redrive::sim {

// Only what has been durable for a while: the last page of the active segment is in memory and is
// written again.
bool World::may_flip(std::uint32_t segment) const {
  for (const auto& use : server_->journal().usage()) {
    if (use.segment == segment) return !use.active;
  }
  return false;
}

// The messages in which a bit may be flipped, and how many of their last bytes are eligible: the
// rest of a record that a start replays must be intact, or the start is refused.
std::vector<std::pair<queue::MessageKey, std::uint64_t>> World::flippable() {
  std::vector<std::pair<queue::MessageKey, std::uint64_t>> found;
  const auto bytes = files_.bytes(std::string(journal::kManifestName));
  if (!bytes || fault_expected_ || journal().synced() != journal().appended()) return found;
  const auto manifest = journal::decode_manifest(*bytes);
  if (!manifest) return found;
  for (const auto& [key, message] : now_model_.messages()) {
    const queue::Slot slot = store().state().messages().find(key);
    if (slot == queue::kNoSlot) continue;
    const queue::BodyRef& body = store().state().messages()[slot].body;
    const bool replayed = body.segment >= manifest->checkpoint.record.segment;
    const std::uint64_t choice = replayed ? letter(key).body.size() : body.size;
    if (choice > 0 && may_flip(body.segment) && !is_flipped(body)) found.emplace_back(key, choice);
  }
  return found;
}

std::optional<queue::MessageKey> World::flip_bit() {
  const auto candidates = flippable();
  if (candidates.empty()) return std::nullopt;
  const auto [key, choice] = chance_.pick(candidates);
  const auto& table = store().state().messages();
  const queue::BodyRef body = table[table.find(key)].body;
  const Flip flip{.offset = body.offset + body.size - 1 - chance_.below(choice),
                  .bit = static_cast<unsigned>(chance_.below(8))};
  files_.flip_bit(journal::segment_name(body.segment), flip.offset, flip.bit);
  flips_[{body.segment, body.offset}].push_back(flip);
  ++totals_.flipped;
  return key;
}

void World::mend(queue::MessageKey key) {
  const queue::Slot slot = store().state().messages().find(key);
  if (slot == queue::kNoSlot) return;
  const queue::BodyRef body = store().state().messages()[slot].body;
  const auto found = flips_.find({body.segment, body.offset});
  if (found == flips_.end()) return;
  for (const Flip& flip : found->second) {
    files_.flip_bit(journal::segment_name(body.segment), flip.offset, flip.bit);
  }
  mended_.insert(key);
  flips_.erase(found);
}

bool World::is_flipped(queue::MessageKey key) {
  const queue::Slot slot = store().state().messages().find(key);
  return slot != queue::kNoSlot && is_flipped(store().state().messages()[slot].body);
}

// By its key: a crash may take back that it was restored, and compaction may then move its bytes,
// which can be read again.
bool World::was_flipped(queue::MessageKey key) {
  return is_flipped(key) || mended_.contains(key);
}

void World::damaged_is_damaged(const queue::MessageDamaged& fact) {
  const queue::Slot slot = store().state().messages().find(fact.key);
  if (slot == queue::kNoSlot) return;  // Dropped since, or expired.
  require(is_flipped(store().state().messages()[slot].body),
          "only what is damaged is set aside",
          "message {}",
          number(fact.key));
}

}  // namespace redrive::sim
