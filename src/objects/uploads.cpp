#include "objects/uploads.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/result.h"
#include "base/text.h"

namespace redrive::objects {
namespace {

constexpr std::uint32_t kPartNumberMax = 10'000;

std::string md5_text(std::string_view bytes) {
  const Md5 sum = md5(bytes);
  return to_hex({reinterpret_cast<const char*>(sum.data()), sum.size()});
}

std::unexpected<Failure> invalid_part(std::string message) {
  return failure(Fault::invalid_part, std::move(message));
}

}  // namespace

Upload Uploads::begin(Upload upload) {
  const MutexLock lock(mutex_);
  upload.id = ids_.uuid().text();
  while (uploads_.size() >= limits_.count_max) evict_idle(0, {});
  uploads_[upload.id] = Entry{.upload = upload, .parts = {}, .bytes = 0, .touched = ++clock_};
  return upload;
}

Outcome<Uploads::Entries::iterator> Uploads::find(const Upload& named) {
  const auto found = uploads_.find(named.id);
  if (found == uploads_.end() || found->second.upload.bucket != named.bucket ||
      found->second.upload.key != named.key) {
    return failure(Fault::no_such_upload,
                   "The specified upload does not exist. The upload ID may be invalid, or the "
                   "upload may have been aborted or completed.");
  }
  found->second.touched = ++clock_;
  return found;
}

// Drops the upload that has been idle for longest, and more of them until `bytes` fit.
void Uploads::evict_idle(std::uint64_t bytes, std::string_view keep) {
  do {
    auto oldest = uploads_.end();
    for (auto at = uploads_.begin(); at != uploads_.end(); ++at) {
      if (at->first == keep) continue;
      if (oldest == uploads_.end() || at->second.touched < oldest->second.touched) oldest = at;
    }
    if (oldest == uploads_.end()) return;
    bytes_ -= oldest->second.bytes;
    uploads_.erase(oldest);
  } while (bytes_ + bytes > limits_.bytes_max);
}

Outcome<UploadPart> Uploads::put(const Upload& named, std::uint32_t number,
                                 std::string_view bytes) {
  if (number < 1 || number > kPartNumberMax) {
    return invalid_part(fmt::format("Part numbers must be between 1 and {}.", kPartNumberMax));
  }
  Part part{.md5 = md5_text(bytes), .bytes = std::string(bytes)};
  const MutexLock lock(mutex_);
  Entry& entry = TRY(find(named))->second;
  const auto before = entry.parts.find(number);
  const std::uint64_t replaced = before == entry.parts.end() ? 0 : before->second.bytes.size();
  const std::uint64_t total = entry.bytes - replaced + bytes.size();
  if (total > limits_.object_bytes_max) {
    return failure(Fault::too_large,
                   fmt::format("An object can have at most {} bytes on this server.",
                               limits_.object_bytes_max));
  }
  if (bytes_ - entry.bytes + total > limits_.bytes_max) evict_idle(bytes.size(), named.id);
  bytes_ = bytes_ - entry.bytes + total;
  entry.bytes = total;
  UploadPart told{.number = number, .size = bytes.size(), .md5 = part.md5};
  entry.parts[number] = std::move(part);
  return told;
}

Outcome<std::pair<Upload, std::vector<UploadPart>>> Uploads::show(const Upload& named) {
  const MutexLock lock(mutex_);
  const Entry& entry = TRY(find(named))->second;
  std::vector<UploadPart> parts;
  for (const auto& [number, part] : entry.parts) {
    parts.push_back({.number = number, .size = part.bytes.size(), .md5 = part.md5});
  }
  return std::pair(entry.upload, std::move(parts));
}

std::vector<Upload> Uploads::of_bucket(std::string_view bucket) {
  const MutexLock lock(mutex_);
  std::vector<Upload> found;
  for (const auto& [id, entry] : uploads_) {
    if (entry.upload.bucket == bucket) found.push_back(entry.upload);
  }
  std::ranges::stable_sort(found, {}, &Upload::key);
  return found;
}

Outcome<Uploads::Whole> Uploads::join(const Upload& named, const std::vector<UploadPart>& parts) {
  const MutexLock lock(mutex_);
  const Entry& entry = TRY(find(named))->second;
  Whole whole{.upload = entry.upload, .body = {}};
  whole.body.reserve(entry.bytes);
  std::uint32_t last = 0;
  for (const UploadPart& part : parts) {
    if (part.number <= last) {
      return failure(Fault::invalid_part_order,
                     "The list of parts was not in ascending order of their numbers.");
    }
    last = part.number;
    const auto found = entry.parts.find(part.number);
    if (found == entry.parts.end() || (!part.md5.empty() && part.md5 != found->second.md5)) {
      return invalid_part(fmt::format("Part {} does not exist, or has another ETag.", part.number));
    }
    whole.body += found->second.bytes;
  }
  if (parts.empty()) return invalid_part("You must specify at least one part.");
  return whole;
}

Outcome<void> Uploads::drop(const Upload& named) {
  const MutexLock lock(mutex_);
  const auto found = TRY(find(named));
  bytes_ -= found->second.bytes;
  uploads_.erase(found);
  return {};
}

void Uploads::clear() {
  const MutexLock lock(mutex_);
  uploads_.clear();
  bytes_ = 0;
}

}  // namespace redrive::objects
