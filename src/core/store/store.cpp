#include "core/store/store.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace redrive::store {

using queue::BodyRef;
using queue::Change;
using queue::Stamp;

namespace {

// Verifies that the bytes are this message. The error texts are few and fixed, because histories
// keep each distinct text once.
Result<StoredMessage> check_message(const Result<void>& read, queue::MessageKey key,
                                    std::string_view bytes) {
  if (!read && read.error().code != ErrorCode::storage_damaged) {
    return std::unexpected(read.error());
  }
  if (!read) return fail(ErrorCode::storage_damaged, "its bytes are missing on the disk");
  const auto stored = decode_message(bytes);
  if (!stored) return fail(ErrorCode::storage_damaged, "its bytes do not match their checksum");
  if (stored->key == key) return *stored;
  return fail(ErrorCode::storage_damaged, "the bytes of another message are in its place");
}

}  // namespace

Store::Store(const StoreOptions& options) : options_(options), state_(*this) {}

Result<void> Store::replay(journal::Location at, std::string_view payload) {
  std::vector<journal::Stretch> damaged;
  const auto apply = [this](const Change& change, const Stamp& stamp) {
    state_.apply(change, stamp);
    last_stamp_ = stamp;
  };
  RETURN_IF_ERROR(decode_record(at, payload, apply, &damaged));
  if (!damaged.empty()) damaged_segments_.insert(at.segment);
  return {};
}

Result<void> Store::attach(journal::Journal& journal) {
  // Bytes of messages that had expired by the last record's time may have been recycled.
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
          fmt::format("segment {} is missing and contains messages: restore its file from a "
                      "backup, or use `redrive journal repair` to continue without these messages",
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

Result<StoredMessage> Store::read_message(queue::MessageKey key, const BodyRef& body,
                                          std::string& bytes) const {
  bytes.resize(body.size);
  const auto first = check_message(read(body, bytes.data()), key, bytes);
  if (first) return first;
  const journal::Location from{body.segment, body.offset};
  return check_message(journal_->read_afresh(from, body.size, bytes.data()), key, bytes);
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
