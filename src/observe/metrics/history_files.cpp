#include "observe/metrics/history_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/calendar.h"
#include "base/digest.h"
#include "base/file_system.h"

namespace redrive::metrics {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "RDRVMET1";
constexpr std::size_t kRecordHeadBytes = 8;
constexpr Duration kMinute = std::chrono::minutes(1);
constexpr Duration kSecondsFilesKept = std::chrono::hours(2);
constexpr Duration kMinutesFilesKept = std::chrono::days(15);

void append_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// The time part of a name such as seconds-2026-01-31T23: names sort by time.
std::string stamp_of(Resolution resolution, Timestamp time) {
  return format_utc(time).substr(0, resolution == Resolution::second ? 13 : 10);
}

std::string_view prefix_of(Resolution resolution) {
  return resolution == Resolution::second ? "seconds-" : "minutes-";
}

std::vector<fs::path> sorted_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (fs::directory_iterator at(directory, ignored), end; at != end; at.increment(ignored)) {
    files.push_back(at->path());
  }
  std::ranges::sort(files);  // Minutes before seconds, each in chronological order.
  return files;
}

}  // namespace

Result<HistoryFiles> HistoryFiles::open(fs::path directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return fail(ErrorCode::storage_io, fmt::format("{}: {}", directory.string(), error.message()));
  }
  return HistoryFiles(std::move(directory));
}

fs::path HistoryFiles::file_for(Resolution resolution, Timestamp now) const {
  return directory_ / (std::string(prefix_of(resolution)) + stamp_of(resolution, now));
}

// Returns false if part of the file was unreadable; the file is truncated there.
bool HistoryFiles::load_file(History& history, const fs::path& path) const {
  const std::string bytes = read_file(path).value_or("");
  std::size_t at = bytes.starts_with(kMagic) ? kMagic.size() : 0;
  while (at > 0 && bytes.size() - at >= kRecordHeadBytes) {
    const std::uint32_t size = u32_at(bytes, at);
    if (bytes.size() - at - kRecordHeadBytes < size) break;
    const auto payload = std::string_view(bytes).substr(at + kRecordHeadBytes, size);
    if (crc32c(payload) != u32_at(bytes, at + 4) || !history.decode(payload)) break;
    at += kRecordHeadBytes + size;
  }
  if (at == bytes.size() && at > 0) return true;
  std::error_code ignored;
  at == 0 ? (void)fs::remove(path, ignored) : fs::resize_file(path, at, ignored);
  return false;
}

std::size_t HistoryFiles::load(History& history, Timestamp now) {
  remove_old(now);
  std::size_t faults = 0;
  for (const fs::path& path : sorted_files(directory_)) {
    const std::string name = path.filename().string();
    const bool ours = name.starts_with(prefix_of(Resolution::second)) ||
                      name.starts_with(prefix_of(Resolution::minute));
    if (ours && !load_file(history, path)) ++faults;
  }
  return faults;
}

Result<void> HistoryFiles::append(Resolution resolution, Timestamp now,
                                  const std::string& payload) const {
  const fs::path path = file_for(resolution, now);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  std::string bytes;
  if (file.tellp() == std::streampos(0)) bytes = kMagic;
  append_u32(bytes, static_cast<std::uint32_t>(payload.size()));
  append_u32(bytes, crc32c(payload));
  bytes += payload;
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (file) return {};
  return fail(ErrorCode::storage_io, fmt::format("cannot write {}", path.string()));
}

void HistoryFiles::remove_old(Timestamp now) const {
  for (const fs::path& path : sorted_files(directory_)) {
    const std::string name = path.filename().string();
    for (const auto resolution : {Resolution::second, Resolution::minute}) {
      if (!name.starts_with(prefix_of(resolution))) continue;
      const Duration kept =
          resolution == Resolution::second ? kSecondsFilesKept : kMinutesFilesKept;
      std::error_code ignored;
      if (path < file_for(resolution, now - kept)) fs::remove(path, ignored);
    }
  }
}

Result<void> HistoryFiles::save(const History& history, Timestamp now) {
  const std::int64_t present = now.ms() / kMinute.count();
  if (saved_ < 0) saved_ = present - 1;
  if (saved_ >= present) return {};
  const auto kept = static_cast<std::int64_t>(History::kMinutesKept);
  const std::int64_t from = std::max(saved_, present - kept);
  const std::int64_t from_second =
      std::max(from * 60, present * 60 - static_cast<std::int64_t>(History::kSecondsKept));
  saved_ = present;  // Also on failure: a full disk must not make the next record larger.
  RETURN_IF_ERROR(
      append(Resolution::minute, now, history.encode(Resolution::minute, from, present)));
  RETURN_IF_ERROR(append(
      Resolution::second, now, history.encode(Resolution::second, from_second, present * 60)));
  remove_old(now);
  return {};
}

}  // namespace redrive::metrics
