#include "journal/spares.h"

#include <algorithm>
#include <cassert>

#include "journal/format.h"

namespace redrive::journal {
namespace {

// A sync that comes while zeros are written may have to wait for the disk, so the step is small.
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
  const std::lock_guard lock(mutex_);
  spares_.push_back(std::move(spare));
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
}

void Spares::erase(List::iterator spare) {
  spares_.erase(spare);
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
}

std::size_t Spares::size() const {
  const std::lock_guard lock(mutex_);
  return spares_.size();
}

Spares::List::iterator Spares::choose(Wanted wanted, std::unique_lock<std::mutex>& lock) {
  const auto is_free = [](const Spare& spare) { return !spare.in_hand; };
  let_go_.wait(lock, [&] { return spares_.empty() || std::ranges::any_of(spares_, is_free); });
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
  std::unique_lock lock(mutex_);
  const auto spare = choose(Wanted::fullest, lock);
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
  CHECK(overwrite(*taken.file));
  taken.filled = segment_bytes_;
  return taken;
}

Result<Spares::Taken> Spares::create_reserved() {
  auto taken = create();
  const bool full = taken ? !taken->reserved : taken.error().code == ErrorCode::storage_full;
  if (!full) return taken;
  if (taken) CHECK(files_.remove(taken->name));
  if (!misfits_.empty()) {
    CHECK(remove_misfits());
    return create_reserved();
  }
  return fail(ErrorCode::storage_full, "there is no space for another segment");
}

// Zeros are durable before the file gets a segment's name: a crash never leaves old records in it.
Result<void> Spares::overwrite(File& file) const {
  CHECK(file.write_zeros(0, segment_bytes_));
  return file.sync();
}

Result<Spares::Taken> Spares::create() {
  Taken taken{.name = next_name()};
  taken.file = TRY(files_.create(taken.name));
  // Without a reservation the writes themselves find out how far the space goes.
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
      CHECK(files_.remove(name));
      continue;
    }
    recycled.push_back({next_name(), std::max(segment.filled, segment.used)});
    CHECK(files_.rename(name, recycled.back().name));
  }
  // Only now may the files be written to: an old name must never come back with new bytes.
  CHECK(files_.sync_directory());
  for (Spare& spare : recycled) add(std::move(spare));
  return {};
}

Result<bool> Spares::prepare(std::uint32_t target) {
  if (!misfits_.empty()) {
    CHECK(remove_misfits());
    return true;
  }
  if (size() > most(target)) {
    CHECK(remove_one());
    return size() > most(target);
  }
  if (size() >= target) return false;
  const std::string name = next_name();
  auto file = TRY(files_.create(name));
  auto reserved = file->reserve(segment_bytes_);
  if (reserved) reserved = file->sync();
  if (reserved) reserved = files_.sync_directory();
  if (!reserved) {
    CHECK(files_.remove(name));
    return std::unexpected(reserved.error());
  }
  add({.name = name, .filled = 0});
  return size() < target;
}

Result<bool> Spares::fill_some() {
  Spare filling;
  {
    const std::lock_guard lock(mutex_);
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
  // Once for all of it: whoever takes it sooner pays for that with its first sync.
  if (written && whole) written = (*file)->sync();
  const bool full = !written && written.error().code == ErrorCode::storage_full;
  {
    const std::lock_guard lock(mutex_);
    const auto spare = std::ranges::find(spares_, filling.name, &Spare::name);
    assert(spare != spares_.end());  // Nobody takes what is in hand.
    // Where even reserved space runs out, the file system copies on write: zeros are no use there.
    if (written) spare->filled += step;
    if (full) spare->filled = segment_bytes_;
    spare->in_hand = false;
  }
  let_go_.notify_all();
  if (!written && !full) return std::unexpected(written.error());
  return true;
}

Result<void> Spares::sacrifice() {
  if (size() == 0) return fail(ErrorCode::storage_full, "no spare segment is left to give up");
  return remove_one();
}

Result<void> Spares::remove_one() {
  {
    std::unique_lock lock(mutex_);
    const auto spare = choose(Wanted::emptiest, lock);
    assert(spare != spares_.end());  // There is one, and only who calls this removes any.
    CHECK(files_.remove(spare->name));
    erase(spare);
  }
  return files_.sync_directory();
}

Result<void> Spares::remove_misfits() {
  for (const std::string& name : misfits_) CHECK(files_.remove(name));
  misfits_.clear();
  return files_.sync_directory();
}

}  // namespace redrive::journal
