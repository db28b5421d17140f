#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "objects/failure.h"
#include "objects/object_file.h"

namespace redrive::objects {

// An object that comes in parts.
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

// Uploads under way. Parts wait in memory until the object is whole: an upload that a restart
// interrupts is begun anew by its client. What all of them hold is bounded; when there is no room
// the one that has been idle for longest is forgotten.
//
// From any thread: mutex_ guards uploads_, bytes_ and clock_.
class Uploads {
 public:
  struct Limits {
    std::uint64_t object_bytes_max = std::uint64_t{64} << 20;
    std::uint64_t bytes_max = std::uint64_t{256} << 20;  // Of all uploads.
    std::size_t count_max = 1000;
  };
  explicit Uploads(Limits limits) : limits_(limits) {}

  // Gives it its id.
  Upload begin(Upload upload);
  // A part of the same number replaces the one before.
  Outcome<UploadPart> put(const Upload& named, std::uint32_t number, std::string_view bytes);
  // The upload and its parts in the order of their numbers.
  Outcome<std::pair<Upload, std::vector<UploadPart>>> show(const Upload& named);
  std::vector<Upload> of_bucket(std::string_view bucket);
  struct Whole {
    Upload upload;
    std::string body;
  };
  // The named parts joined, each with the MD5 that its uploader was told. The upload goes on until
  // it is dropped, so that a failure to store the object leaves it as it is.
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
    std::uint64_t touched = 0;  // By a count of all that happens here.
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Outcome<Entries::iterator> find(const Upload& named);
  void make_room(std::uint64_t bytes, std::string_view keep);

  const Limits limits_;
  std::mutex mutex_;
  Entries uploads_;
  std::uint64_t bytes_ = 0;
  std::uint64_t clock_ = 0;
  RandomIds ids_;
};

}  // namespace redrive::objects
