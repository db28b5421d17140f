#include "core/journal/spares.h"

#include <algorithm>
#include <cassert>

#include "core/journal/format.h"

namespace redrive::journal {
namespace {

// A sync may have to wait for the disk while zeros are written, so the step is small.
constexpr std::uint32_t kFillStepBytes = 1u << 20;

bool has_size(Files& files, const std::string& name, std::uint64_t bytes) {
  auto file = files.open(name);
  if (!file) return false;
  const auto size = (*file)->size();
  return size && *size == bytes;
}

}  // namespace

Spares::Spares(Files& files, const Options& options, const std::vector<std::string>& names)
    : files_(files),
      segment_bytes_(options.segment_bytes),
      recycled_max_(options.recycled_segments_max) {
  for (const std::string& name : names) {
    next_number_ = std::max(next_number_, parse_spare_name(name).value() + 1);
    if (has_size(files, name, segment_bytes_)) {
      add({.name = name, .filled = segment_bytes_});
    } else {
      misfits_.push_back(name);
    }
  }
}

std::string Spares::next_name() {
  return spare_name(next_number_++);
}

void Spares::add(Spare spare) {
  const MutexLock lock(mutex_);
  spares_.push_back(std::move(spare));
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
}

void Spares::erase(List::iterator spare) {
  spares_.erase(spare);
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
}

std::size_t Spares::size() const {
  const MutexLock lock(mutex_);
  return spares_.size();
}

Spares::List::iterator Spares::choose(Wanted wanted) {
  const auto is_free = [](const Spare& spare) { return !spare.in_hand; };
  let_go_.wait(mutex_, [&]() REQUIRES(mutex_) {
    return spares_.empty() || std::ranges::any_of(spares_, is_free);
  });
  return std::ranges::max_element(spares_, {}, [wanted](const Spare& spare) {
    const auto filled = std::int64_t{spare.filled};
    return std::pair(!spare.in_hand, wanted == Wanted::fullest ? filled : -filled);
  });
}

Result<Spares::Taken> Spares::take() {
  if (!clean_next_) return take_any();
  auto taken = TRY(take_new());
  clean_next_ = false;
  return taken;
}

Result<Spares::Taken> Spares::take_any() {
  const MutexLock lock(mutex_);
  const auto spare = choose(Wanted::fullest);
  if (spare == spares_.end()) return create();
  Taken taken{.name = spare->name, .filled = spare->filled};
  taken.file = TRY(files_.open(taken.name));
  erase(spare);
  return taken;
}

Result<Spares::Taken> Spares::take_new() {
  auto reserved = create_reserved();
  if (reserved || reserved.error().code != ErrorCode::storage_full) return reserved;
  if (size() == 0) return create();
  auto taken = TRY(take_any());
  RETURN_IF_ERROR(overwrite(*taken.file));
  taken.filled = segment_bytes_;
  return taken;
}

Result<Spares::Taken> Spares::create_reserved() {
  auto taken = create();
  const bool full = taken ? !taken->reserved : taken.error().code == ErrorCode::storage_full;
  if (!full) return taken;
  if (taken) RETURN_IF_ERROR(files_.remove(taken->name));
  if (!misfits_.empty()) {
    RETURN_IF_ERROR(remove_misfits());
    return create_reserved();
  }
  return fail(ErrorCode::storage_full, "no space for another segment");
}

// The zeros are durable before the file gets a segment's name: a crash never leaves old records in
// it.
Result<void> Spares::overwrite(File& file) const {
  RETURN_IF_ERROR(file.write_zeros(0, segment_bytes_));
  return file.sync();
}

Result<Spares::Taken> Spares::create() {
  Taken taken{.name = next_name()};
  taken.file = TRY(files_.create(taken.name));
  // Without a reservation, ENOSPC shows up on write.
  taken.reserved = taken.file->reserve(segment_bytes_).has_value();
  return taken;
}

Result<void> Spares::recycle(const std::vector<Segment>& segments, std::uint32_t target) {
  std::vector<Spare> recycled;
  for (const Segment& segment : segments) {
    const std::string name = segment_name(segment.number);
    const bool wanted =
        size() + recycled.size() < most(target) && has_size(files_, name, segment_bytes_);
    if (!wanted) {
      RETURN_IF_ERROR(files_.remove(name));
      continue;
    }
    recycled.push_back({next_name(), std::max(segment.filled, segment.used)});
    RETURN_IF_ERROR(files_.rename(name, recycled.back().name));
  }
  // Write to the files only now: an old name must never come back with new content.
  RETURN_IF_ERROR(files_.sync_directory());
  for (Spare& spare : recycled) add(std::move(spare));
  return {};
}

Result<bool> Spares::prepare(std::uint32_t target) {
  if (!misfits_.empty()) {
    RETURN_IF_ERROR(remove_misfits());
    return true;
  }
  if (size() > most(target)) {
    RETURN_IF_ERROR(remove_one());
    return size() > most(target);
  }
  if (size() >= target) return false;
  const std::string name = next_name();
  auto file = TRY(files_.create(name));
  auto reserved = file->reserve(segment_bytes_);
  if (reserved) reserved = file->sync();
  if (reserved) reserved = files_.sync_directory();
  if (!reserved) {
    RETURN_IF_ERROR(files_.remove(name));
    return std::unexpected(reserved.error());
  }
  add({.name = name, .filled = 0});
  return size() < target;
}

Result<bool> Spares::fill_some() {
  Spare filling;
  {
    const MutexLock lock(mutex_);
    const auto spare = std::ranges::find_if(
        spares_, [this](const Spare& candidate) { return candidate.filled < segment_bytes_; });
    if (spare == spares_.end()) return false;
    spare->in_hand = true;
    filling = *spare;
  }
  const std::uint32_t step = std::min(kFillStepBytes, segment_bytes_ - filling.filled);
  const bool whole = filling.filled + step == segment_bytes_;
  const auto file = files_.open(filling.name);
  auto written = file ? (*file)->write_zeros(filling.filled, step) : std::unexpected(file.error());
  // Sync once, at the end; if the file is taken earlier, its first sync includes the zeros.
  if (written && whole) written = (*file)->sync();
  const bool full = !written && written.error().code == ErrorCode::storage_full;
  {
    const MutexLock lock(mutex_);
    const auto spare = std::ranges::find(spares_, filling.name, &Spare::name);
    assert(spare != spares_.end());  // A spare being filled is never taken.
    // If even reserved space runs out, the file system is copy-on-write, where filling is useless.
    if (written) spare->filled += step;
    if (full) spare->filled = segment_bytes_;
    spare->in_hand = false;
  }
  let_go_.notify_all();
  if (!written && !full) return std::unexpected(written.error());
  return true;
}

Result<void> Spares::sacrifice() {
  if (size() == 0) return fail(ErrorCode::storage_full, "no spare segment is left to release");
  return remove_one();
}

Result<void> Spares::remove_one() {
  {
    const MutexLock lock(mutex_);
    const auto spare = choose(Wanted::emptiest);
    assert(spare != spares_.end());  // Only the caller's thread removes spares.
    RETURN_IF_ERROR(files_.remove(spare->name));
    erase(spare);
  }
  return files_.sync_directory();
}

Result<void> Spares::remove_misfits() {
  for (const std::string& name : misfits_) RETURN_IF_ERROR(files_.remove(name));
  misfits_.clear();
  return files_.sync_directory();
}

}  // namespace redrive::journal
