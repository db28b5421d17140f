#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/time.h"
#include "objects/failure.h"
#include "objects/object_file.h"

namespace redrive::objects {

// A multipart upload.
struct Upload {
  std::string id;
  std::string bucket;
  std::string key;
  std::string content_type;
  Pairs headers;
  Timestamp begun;
};

struct UploadPart {
  std::uint32_t number = 0;
  std::uint64_t size = 0;
  std::string md5;
};

// Multipart uploads in progress. Parts are kept in memory until the object is complete: an upload
// interrupted by a restart must be started again. The total is bounded; if the limit is exceeded,
// the upload that has been idle for longest is dropped.
//
// Thread-safe: mutex_ guards uploads_, bytes_ and clock_.
class Uploads {
 public:
  struct Limits {
    std::uint64_t object_bytes_max = std::uint64_t{64} << 20;
    std::uint64_t bytes_max = std::uint64_t{256} << 20;  // Of all uploads.
    std::size_t count_max = 1000;
  };
  explicit Uploads(Limits limits) : limits_(limits) {}

  // Assigns the id.
  Upload begin(Upload upload);
  // Replaces an earlier part with the same number.
  Outcome<UploadPart> put(const Upload& named, std::uint32_t number, std::string_view bytes);
  // The upload and its parts in order of their numbers.
  Outcome<std::pair<Upload, std::vector<UploadPart>>> show(const Upload& named);
  std::vector<Upload> of_bucket(std::string_view bucket);
  struct Whole {
    Upload upload;
    std::string body;
  };
  // Joins the named parts; each must have the MD5 returned to its uploader. The upload is kept
  // until it is dropped, so that a failure to store the object does not lose it.
  Outcome<Whole> join(const Upload& named, const std::vector<UploadPart>& parts);
  Outcome<void> drop(const Upload& named);
  void clear();

 private:
  struct Part {
    std::string md5;
    std::string bytes;
  };
  struct Entry {
    Upload upload;
    std::map<std::uint32_t, Part> parts;
    std::uint64_t bytes = 0;
    std::uint64_t touched = 0;  // Logical time of the last access.
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Outcome<Entries::iterator> find(const Upload& named) REQUIRES(mutex_);
  void evict_idle(std::uint64_t bytes, std::string_view keep) REQUIRES(mutex_);

  const Limits limits_;
  Mutex mutex_;
  Entries uploads_ GUARDED_BY(mutex_);
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t clock_ GUARDED_BY(mutex_) = 0;
  RandomIds ids_ GUARDED_BY(mutex_);
};

}  // namespace redrive::objects
