#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "core/journal/format.h"
#include "core/journal/journal.h"
#include "core/journal/segment_table.h"

namespace redrive::journal {
namespace {

// A journal without durability. Positions and sizes are those of the file-backed journal; headers
// take up space but are not written.
class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(const Options& options) : segment_bytes_(options.segment_bytes) {
    start_segment();
  }

  using Journal::append;
  Appended append(std::span<const std::string_view> parts) override {
    const MutexLock lock(mutex_);
    return append_record(parts);
  }

  Appended append_checkpoint_begin(std::span<const std::string_view> parts) override {
    const MutexLock lock(mutex_);
    const Appended appended = append_record(parts);
    const std::uint32_t begin = appended.payload.offset - kRecordHeaderBytes;
    begun_.push_back({.sequence = appended.sequence,
                      .segment = appended.payload.segment,
                      .position = position_ - (segments_.last().used - begin)});
    return appended;
  }

  Appended append_checkpoint_end(std::span<const std::string_view> parts) override {
    return append(parts);
  }

  std::size_t payload_bytes_max() const override { return largest_payload(segment_bytes_); }

  Result<void> read(Location from, std::size_t size, char* out) override {
    const char* bytes = nullptr;
    {
      const MutexLock lock(mutex_);
      bytes = memory_.at(from.segment).get();
    }
    assert(std::uint64_t{from.offset} + size <= segment_bytes_);
    std::memcpy(out, bytes + from.offset, size);
    return {};
  }

  Sequence appended() const override { return appended_.load(std::memory_order_acquire); }
  Sequence synced() const override { return appended(); }

  Result<Sequence> sync_once() override {
    const MutexLock lock(mutex_);
    ++syncs_;
    return appended();
  }

  void hold(std::uint32_t segment, std::uint32_t bytes) override {
    const MutexLock lock(mutex_);
    segments_.hold(segment, bytes);
  }

  void let_go(std::uint32_t segment, std::uint32_t bytes) override {
    const MutexLock lock(mutex_);
    segments_.let_go(segment, bytes, 0);  // No crash to guard against.
  }

  bool has_segment(std::uint32_t segment) const override {
    const MutexLock lock(mutex_);
    return segments_.has(segment);
  }

  Result<void> set_checkpoint(Sequence begin) override {
    const MutexLock lock(mutex_);
    if (begin == checkpoint_.sequence) return {};
    const auto found =
        std::find_if(begun_.begin(), begun_.end(), [begin](const BegunCheckpoint& candidate) {
          return candidate.sequence == begin;
        });
    assert(found != begun_.end());  // Begun by append_checkpoint_begin, and after the current one.
    checkpoint_ = *found;
    begun_.erase(begun_.begin(), found + 1);
    return {};
  }

  void pin(std::uint32_t segment) override {
    const MutexLock lock(mutex_);
    segments_.pin(segment);
  }

  void unpin(std::uint32_t segment) override {
    const MutexLock lock(mutex_);
    segments_.unpin(segment);
  }

  Result<bool> housekeep() override {
    const MutexLock lock(mutex_);
    while (const auto free = segments_.take_free_below(checkpoint_.segment, 0)) {
      memory_.erase(free->number);
    }
    return false;
  }

  bool has_room() const override { return true; }
  void set_spare_target(std::uint32_t) override {}

  std::vector<SegmentUse> usage() const override {
    const MutexLock lock(mutex_);
    return segments_.usage(checkpoint_.segment, segments_.last_number());
  }

  Totals totals() const override {
    const MutexLock lock(mutex_);
    return {.syncs = syncs_,
            .bytes_appended = position_,
            .bytes_since_checkpoint = position_ - checkpoint_.position,
            .segments = segments_.count(),
            .segments_since_checkpoint = segments_.last_number() - checkpoint_.segment + 1,
            .spares = 0};
  }

 private:
  struct BegunCheckpoint {
    Sequence sequence = 1;
    std::uint32_t segment = 1;
    std::uint64_t position = 0;
  };

  Appended append_record(std::span<const std::string_view> parts) REQUIRES(mutex_) {
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    assert(size <= payload_bytes_max());
    const auto bytes = static_cast<std::uint32_t>(record_bytes(size));
    if (bytes > segment_bytes_ - segments_.last().used) start_segment();

    Segment& active = segments_.last();
    const Location payload{active.number, active.used + kRecordHeaderBytes};
    char* out = active_bytes_ + payload.offset;
    for (const std::string_view part : parts) out = std::copy(part.begin(), part.end(), out);
    active.used += bytes;
    position_ += bytes;
    const Sequence sequence = appended_.load(std::memory_order_relaxed) + 1;
    appended_.store(sequence, std::memory_order_release);
    return {.sequence = sequence, .payload = payload};
  }

  void start_segment() REQUIRES(mutex_) {
    const std::uint32_t number = segments_.count() == 0 ? 1 : segments_.last_number() + 1;
    segments_.add({.number = number, .bytes = segment_bytes_, .used = kSegmentHeaderBytes});
    // Untouched pages use no memory yet.
    auto& memory = memory_[number] = std::make_unique_for_overwrite<char[]>(segment_bytes_);
    active_bytes_ = memory.get();
    position_ += kSegmentHeaderBytes;
  }

  const std::uint32_t segment_bytes_;
  std::atomic<Sequence> appended_ = 0;

  mutable Mutex mutex_;
  SegmentTable segments_ GUARDED_BY(mutex_);
  std::map<std::uint32_t, std::unique_ptr<char[]>> memory_ GUARDED_BY(mutex_);
  char* active_bytes_ GUARDED_BY(mutex_) = nullptr;
  BegunCheckpoint checkpoint_ GUARDED_BY(mutex_);
  std::vector<BegunCheckpoint> begun_ GUARDED_BY(mutex_);
  std::uint64_t position_ GUARDED_BY(mutex_) = 0;
  std::uint64_t syncs_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<Journal> memory_journal(const Options& options) {
  assert(options.segment_bytes >= kSegmentBytesMin);
  assert(options.segment_bytes % kRecordAlignment == 0);
  return std::make_unique<MemoryJournal>(options);
}

}  // namespace redrive::journal
