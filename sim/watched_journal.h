#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/queue/change.h"

namespace redrive::sim {

// One record as appended to the journal. The facts' views point into `payload`.
struct Record {
  journal::Sequence sequence = 0;
  journal::Location at;  // Of the payload.
  queue::Stamp stamp{};
  std::shared_ptr<const std::string> payload;
  std::vector<queue::Change> facts;
  bool disk_fails = false;  // Unreadable messages may have been skipped.

  // The stored bytes of a message in this record.
  std::string_view stored(const queue::BodyRef& body) const {
    return std::string_view(*payload).substr(body.offset - at.offset, body.size);
  }
};

// Forwards everything to a journal and keeps a copy of every appended record: the simulator learns
// from it what the server decided, and which decisions a crash may undo.
class WatchedJournal final : public journal::Journal {
 public:
  explicit WatchedJournal(std::unique_ptr<journal::Journal> journal)
      : journal_(std::move(journal)) {}

  // The records appended since the last call.
  std::vector<Record> take() { return std::exchange(records_, {}); }

  using Journal::append;
  journal::Appended append(std::span<const std::string_view> parts) override;
  journal::Appended append_checkpoint_begin(std::span<const std::string_view> parts) override;
  journal::Appended append_checkpoint_end(std::span<const std::string_view> parts) override;
  std::size_t payload_bytes_max() const override { return journal_->payload_bytes_max(); }
  Result<void> read(journal::Location from, std::size_t size, char* out) override {
    const auto done = journal_->read(from, size, out);
    if (on_read_) on_read_(from);
    return done;
  }
  Result<void> read_afresh(journal::Location from, std::size_t size, char* out) override {
    return journal_->read_afresh(from, size, out);
  }
  journal::Sequence appended() const override { return journal_->appended(); }
  journal::Sequence synced() const override { return journal_->synced(); }
  Result<journal::Sequence> sync_once() override { return journal_->sync_once(); }
  void hold(std::uint32_t segment, std::uint32_t bytes) override { journal_->hold(segment, bytes); }
  void let_go(std::uint32_t segment, std::uint32_t bytes) override {
    journal_->let_go(segment, bytes);
  }
  bool has_segment(std::uint32_t segment) const override { return journal_->has_segment(segment); }
  Result<void> set_checkpoint(journal::Sequence begin) override {
    ++checkpoints_;
    return journal_->set_checkpoint(begin);
  }
  void pin(std::uint32_t segment) override { journal_->pin(segment); }
  void unpin(std::uint32_t segment) override { journal_->unpin(segment); }
  Result<bool> housekeep() override { return journal_->housekeep(); }
  bool has_room() const override { return journal_->has_room(); }
  void set_spare_target(std::uint32_t segments) override { journal_->set_spare_target(segments); }
  std::vector<SegmentUse> usage() const override { return journal_->usage(); }
  Totals totals() const override { return journal_->totals(); }

  std::uint64_t checkpoints() const { return checkpoints_; }
  // Called after each read, before the reader continues.
  void on_read(std::function<void(journal::Location)> work) { on_read_ = std::move(work); }

 private:
  void note(const journal::Appended& appended, std::span<const std::string_view> parts);

  std::unique_ptr<journal::Journal> journal_;
  std::vector<Record> records_;
  std::uint64_t checkpoints_ = 0;
  std::function<void(journal::Location)> on_read_;
};

}  // namespace redrive::sim
