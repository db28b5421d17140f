#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue/history.h"
#include "core/queue/ids.h"

namespace redrive::queue {

// What the server keeps about a message that was archived.
struct ArchivedLineage {
  Uuid lineage;                      // The MessageId of its first send,
  Uuid message_id;                   // and its last one.
  NameIndex from = NameIndex::none;  // The ARN of the queue it left.
  Timestamp archived_wall;
  Timestamp restored_wall;  // Zero: not restored.
  std::string place;        // s3://bucket/key or file:///directory/key, as its archiver says.
  History history;          // Ends with its archiving.

  friend bool operator==(const ArchivedLineage&, const ArchivedLineage&) = default;
};

// The last kMax archived messages, restored or not. Of older ones only the document in the archive
// remains.
//
// The contents depend only on what was put in, not on the order: the highest places stay. So a
// checkpoint can write them in slices, between other facts.
class ArchivedLineages {
 public:
  static constexpr std::size_t kMax = 10'000;

  // Puts one at its place, which is higher than those before it unless a checkpoint repeats one.
  // Returns the entry that was replaced or evicted, which may be the new one.
  std::optional<ArchivedLineage> put(std::uint64_t place_in_order, ArchivedLineage archived);
  // The message that had this MessageId when it was archived was restored.
  void note_restored(const Uuid& message_id, Timestamp wall);

  // The message that had this MessageId when it was archived; nullptr if unknown.
  const ArchivedLineage* find(const Uuid& message_id) const;
  // All of one lineage, oldest first.
  std::vector<const ArchivedLineage*> of(const Uuid& lineage) const;
  // By their places.
  const std::map<std::uint64_t, ArchivedLineage>& entries() const { return entries_; }

 private:
  ArchivedLineage take(std::map<std::uint64_t, ArchivedLineage>::iterator at);

  std::map<std::uint64_t, ArchivedLineage> entries_;
  std::map<Uuid, std::uint64_t> places_;  // By MessageId.
  std::set<std::pair<Uuid, std::uint64_t>> by_lineage_;
};

}  // namespace redrive::queue
