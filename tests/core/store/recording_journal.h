#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/queue/ids.h"

namespace redrive::store {

// A journal in memory that keeps every record, so that a test can replay them, and that can
// simulate a full disk.
class RecordingJournal final : public journal::Journal {
 public:
  struct Record {
    journal::Sequence sequence;
    journal::Location at;
    std::string payload;
  };

  explicit RecordingJournal(std::uint32_t segment_bytes = 1u << 20)
      : inner_(journal::memory_journal({.segment_bytes = segment_bytes})) {}

  using Journal::append;
  journal::Appended append(std::span<const std::string_view> parts) override {
    return note(inner_->append(parts), parts);
  }
  journal::Appended append_checkpoint_begin(std::span<const std::string_view> parts) override {
    return note(inner_->append_checkpoint_begin(parts), parts);
  }
  journal::Appended append_checkpoint_end(std::span<const std::string_view> parts) override {
    return note(inner_->append_checkpoint_end(parts), parts);
  }
  std::size_t payload_bytes_max() const override { return inner_->payload_bytes_max(); }
  Result<void> read(journal::Location from, std::size_t size, char* out) override {
    if (unreadable_) return fail(ErrorCode::storage_io, "unreadable");
    RETURN_IF_ERROR(read_afresh(from, size, out));
    flip(bad_copies_, from, size, out);
    return {};
  }
  Result<void> read_afresh(journal::Location from, std::size_t size, char* out) override {
    if (unreadable_) return fail(ErrorCode::storage_io, "unreadable");
    RETURN_IF_ERROR(inner_->read(from, size, out));
    flip(flipped_, from, size, out);
    return {};
  }
  journal::Sequence appended() const override { return inner_->appended(); }
  journal::Sequence synced() const override { return synced_; }
  Result<journal::Sequence> sync_once() override { return synced_ = inner_->appended(); }
  void hold(std::uint32_t segment, std::uint32_t bytes) override { inner_->hold(segment, bytes); }
  void let_go(std::uint32_t segment, std::uint32_t bytes) override {
    inner_->let_go(segment, bytes);
  }
  bool has_segment(std::uint32_t segment) const override { return inner_->has_segment(segment); }
  Result<void> set_checkpoint(journal::Sequence begin) override {
    checkpoint_ = begin;
    return inner_->set_checkpoint(begin);
  }
  void pin(std::uint32_t segment) override {
    ++pins_;
    inner_->pin(segment);
  }
  void unpin(std::uint32_t segment) override {
    --pins_;
    inner_->unpin(segment);
  }
  Result<bool> housekeep() override { return inner_->housekeep(); }
  bool has_room() const override { return has_room_; }
  void set_spare_target(std::uint32_t segments) override { inner_->set_spare_target(segments); }
  std::vector<SegmentUse> usage() const override { return inner_->usage(); }
  Totals totals() const override { return inner_->totals(); }

  const std::vector<Record>& records() const { return records_; }
  journal::Sequence checkpoint() const { return checkpoint_; }  // 0: none yet.
  int pins() const { return pins_; }
  void set_room(bool room) { has_room_ = room; }
  void set_unreadable(bool unreadable) { unreadable_ = unreadable; }
  // Toggles a bit in a message's last byte on disk.
  void flip_bit(const queue::BodyRef& body) { flip_bit(body, body.size - 1); }
  // The same for another of its bytes.
  void flip_bit(const queue::BodyRef& body, std::uint32_t at) {
    const journal::Location place{body.segment, body.offset + at};
    if (flipped_.erase(place) == 0) flipped_.insert(place);
  }
  // The same in a cached copy.
  void set_bad_copy(const queue::BodyRef& body) {
    bad_copies_.insert({body.segment, body.offset + body.size - 1});
  }

 private:
  static void flip(const std::set<journal::Location>& places, journal::Location from,
                   std::size_t size, char* out) {
    for (const auto& [segment, offset] : places) {
      if (segment != from.segment || offset < from.offset || offset >= from.offset + size) continue;
      out[offset - from.offset] = static_cast<char>(out[offset - from.offset] ^ 1);
    }
  }

  journal::Appended note(journal::Appended appended, std::span<const std::string_view> parts) {
    std::string payload;
    for (const std::string_view part : parts) payload += part;
    records_.push_back({appended.sequence, appended.payload, std::move(payload)});
    return appended;
  }

  std::unique_ptr<Journal> inner_;
  std::vector<Record> records_;
  journal::Sequence synced_ = 0;
  journal::Sequence checkpoint_ = 0;
  std::atomic<int> pins_ = 0;  // Released by any thread.
  bool has_room_ = true;
  bool unreadable_ = false;
  std::set<journal::Location> flipped_;
  std::set<journal::Location> bad_copies_;
};

}  // namespace redrive::store
