#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "objects/failure.h"

namespace redrive::objects {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// An object's metadata.
struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string md5;  // 32 hexadecimal digits.
  Timestamp modified;
  std::string content_type;
  Pairs headers;  // Lower-case names; user metadata and other headers to return.

  bool operator==(const ObjectInfo&) const = default;
};

// The head of an object's file, before the object's bytes:
//
//   redrive-object 1 0000007b\n          the last word is the size of the lines below, in bytes
//   key a%2Fb.txt\n
//   size 11\n
//   md5 5eb63bbbe01eeed093cb22bb8f5acdc3\n
//   modified 1700000000000\n             milliseconds since 1970
//   type text%2Fplain\n
//   header x-amz-meta-colour blue\n      any number of these; both words escaped
std::string encode_head(const ObjectInfo& info);

// An object's file, open for reading. All reads see one version of the object, even if it is
// replaced meanwhile.
class ObjectFile {
 public:
  static Outcome<ObjectFile> open(const std::filesystem::path& path);
  ~ObjectFile();
  ObjectFile(ObjectFile&& other) noexcept;
  ObjectFile& operator=(ObjectFile&& other) noexcept;

  const ObjectInfo& info() const { return info_; }
  // The range must lie within the object. Reading all of it also verifies the digest.
  Outcome<std::string> read(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  ObjectFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  Outcome<void> read_head();
  Outcome<std::string> read_at(std::uint64_t offset, std::uint64_t bytes) const;

  int descriptor_;
  std::filesystem::path path_;
  ObjectInfo info_;
  std::uint64_t data_begin_ = 0;
};

}  // namespace redrive::objects
