#include "sim/watched_journal.h"

#include <cassert>

#include "core/store/change_codec.h"

namespace redrive::sim {

journal::Appended WatchedJournal::append(std::span<const std::string_view> parts) {
  const auto appended = journal_->append(parts);
  note(appended, parts);
  return appended;
}

journal::Appended WatchedJournal::append_checkpoint_begin(std::span<const std::string_view> parts) {
  const auto appended = journal_->append_checkpoint_begin(parts);
  note(appended, parts);
  return appended;
}

journal::Appended WatchedJournal::append_checkpoint_end(std::span<const std::string_view> parts) {
  const auto appended = journal_->append_checkpoint_end(parts);
  note(appended, parts);
  return appended;
}

void WatchedJournal::note(const journal::Appended& appended,
                          std::span<const std::string_view> parts) {
  std::string payload;
  for (const std::string_view part : parts) payload += part;
  Record record{.sequence = appended.sequence,
                .at = appended.payload,
                .payload = std::make_shared<const std::string>(std::move(payload))};
  const auto decoded =
      store::decode_record(appended.payload,
                           *record.payload,
                           [&](const queue::Change& change, const queue::Stamp& stamp) {
                             record.stamp = stamp;
                             record.facts.push_back(change);
                           });
  assert(decoded);  // It was encoded a moment ago.
  records_.push_back(std::move(record));
}

}  // namespace redrive::sim
