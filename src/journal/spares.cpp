#include "journal/spares.h"

#include <algorithm>
#include <cassert>

#include "journal/format.h"

namespace redrive::journal {
namespace {

// A request that comes while zeros are written waits for them, so the step is small.
constexpr std::uint32_t kFillStepBytes = 1u << 20;

bool has_size(Files& files, const std::string& name, std::uint64_t bytes) {
  auto file = files.open(name);
  if (!file) return false;
  const auto size = (*file)->size();
  return size && *size == bytes;
}

}  // namespace

Spares::Spares(Files& files, std::uint32_t segment_bytes, const std::vector<std::string>& names)
    : files_(files), segment_bytes_(segment_bytes) {
  for (const std::string& name : names) {
    next_number_ = std::max(next_number_, parse_spare_name(name).value() + 1);
    if (has_size(files, name, segment_bytes)) {
      add({.name = name, .filled = segment_bytes});
    } else {
      misfits_.push_back(name);
    }
  }
}

std::string Spares::next_name() {
  return spare_name(next_number_++);
}

void Spares::add(Spare spare) {
  spares_.push_back(std::move(spare));
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
}

Result<Spares::Taken> Spares::take() {
  if (spares_.empty()) return create();
  const auto best = std::max_element(
      spares_.begin(), spares_.end(), [](auto& a, auto& b) { return a.filled < b.filled; });
  Taken taken{.name = best->name, .filled = best->filled};
  taken.file = TRY(files_.open(taken.name));
  spares_.erase(best);
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
  return taken;
}

Result<Spares::Taken> Spares::take_new() {
  auto taken = create();
  const bool full = taken ? !taken->reserved : taken.error().code == ErrorCode::storage_full;
  if (!full || spares_.empty()) return taken;
  if (taken) CHECK(files_.remove(taken->name));
  CHECK(sacrifice());
  return create();
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
        spares_.size() + recycled.size() < target && has_size(files_, name, segment_bytes_);
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
  if (spares_.size() > target) {
    CHECK(remove_last());
    return spares_.size() > target;
  }
  if (spares_.size() == target) return false;
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
  return spares_.size() < target;
}

Result<bool> Spares::fill_some() {
  const auto spare = std::find_if(spares_.begin(), spares_.end(), [this](const Spare& candidate) {
    return candidate.filled < segment_bytes_;
  });
  if (spare == spares_.end()) return false;
  const std::uint32_t step = std::min(kFillStepBytes, segment_bytes_ - spare->filled);
  const auto file = TRY(files_.open(spare->name));
  auto written = file->write_zeros(spare->filled, step);
  if (written) written = file->sync();
  if (!written && written.error().code != ErrorCode::storage_full) {
    return std::unexpected(written.error());
  }
  // Where even reserved space runs out, the file system copies on write: zeros are no use there.
  spare->filled = written ? spare->filled + step : segment_bytes_;
  return true;
}

Result<void> Spares::sacrifice() {
  if (spares_.empty()) return fail(ErrorCode::storage_full, "no spare segment is left to give up");
  return remove_last();
}

Result<void> Spares::remove_last() {
  CHECK(files_.remove(spares_.back().name));
  spares_.pop_back();
  count_.store(static_cast<std::uint32_t>(spares_.size()), std::memory_order_relaxed);
  return files_.sync_directory();
}

Result<void> Spares::remove_misfits() {
  for (const std::string& name : misfits_) CHECK(files_.remove(name));
  misfits_.clear();
  return files_.sync_directory();
}

}  // namespace redrive::journal
