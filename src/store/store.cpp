#include "store/store.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace redrive::store {

using queue::BodyRef;
using queue::Change;
using queue::Stamp;

Store::Store(const StoreOptions& options) : options_(options), state_(*this) {}

Result<void> Store::replay(journal::Location at, std::string_view payload) {
  return decode_record(at, payload, [this](const Change& change, const Stamp& stamp) {
    state_.apply(change, stamp);
    last_stamp_ = stamp;
  });
}

Result<void> Store::attach(journal::Journal& journal) {
  // Whatever had ended by the last record's time may have lost its bytes since.
  state_.advance_all(last_stamp_.now);
  while (state_.bury(SIZE_MAX)) {
  }
  journal_ = &journal;
  for (std::size_t segment = 0; segment < replayed_holds_.size(); ++segment) {
    const std::int64_t bytes = replayed_holds_[segment];
    assert(bytes >= 0);
    if (bytes == 0) continue;
    if (!journal.has_segment(static_cast<std::uint32_t>(segment))) {
      return fail(
          ErrorCode::storage_damaged,
          fmt::format(
              "segment {} is missing, and messages are in it; `redrive journal check` tells more",
              segment));
    }
    journal.hold(static_cast<std::uint32_t>(segment), static_cast<std::uint32_t>(bytes));
  }
  replayed_holds_ = {};
  return {};
}

void Store::hold(const BodyRef& body) {
  if (journal_ != nullptr) return journal_->hold(body.segment, body.size);
  if (replayed_holds_.size() <= body.segment) replayed_holds_.resize(body.segment + std::size_t{1});
  replayed_holds_[body.segment] += body.size;
}

void Store::let_go(const BodyRef& body) {
  let_go_since_record_ = true;
  if (journal_ != nullptr) return journal_->let_go(body.segment, body.size);
  replayed_holds_[body.segment] -= body.size;
}

std::optional<StoredMessage> Store::read_message(const BodyRef& body, std::string& bytes) const {
  bytes.resize(body.size);
  return read(body, bytes.data()) ? decode_message(bytes) : std::nullopt;
}

journal::Appended Store::append(const Stamp& stamp, std::span<const Change> changes) {
  last_stamp_ = stamp;
  let_go_since_record_ = false;
  return journal_->append(encoder_.encode(stamp, changes));
}

journal::Sequence Store::commit(const Stamp& stamp, std::span<Change> changes) {
  const journal::Appended appended = append(stamp, changes);
  for (const RecordEncoder::Stored& stored : encoder_.stored()) {
    const BodyRef body{
        appended.payload.segment, appended.payload.offset + stored.offset, stored.size};
    if (auto* sent = changes[stored.change].as<queue::MessageSent>()) {
      sent->body = body;
    } else if (auto* edited = changes[stored.change].as<queue::MessageEdited>()) {
      edited->body = body;
    } else {
      changes[stored.change].as<queue::MessageRelocated>()->body = body;
    }
  }
  for (const Change& change : changes) state_.apply(change, stamp);
  return appended.sequence;
}

}  // namespace redrive::store
