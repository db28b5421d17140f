#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "objects/durable_file.h"

namespace redrive::lambda {

// The code of functions:
//
//   ROOT/<sha256>.zip      as uploaded; durable before the request is answered
//   ROOT/code/<sha256>/    unpacked; created again if missing
//
// Digests are in base64, as Lambda's CodeSha256; file names have them in hexadecimal. Thread-safe:
// mutex_ lets one thread unpack at a time, and is never taken in a turn.
class CodeStore {
 public:
  struct Options {
    std::filesystem::path root;  // Created with the first function.
    objects::Sync sync = objects::Sync::yes;
    bool passing = false;  // Deleted with this object.
  };
  explicit CodeStore(Options options) : options_(std::move(options)) {}
  ~CodeStore();
  CodeStore(const CodeStore&) = delete;
  CodeStore& operator=(const CodeStore&) = delete;

  struct Stored {
    std::string sha256;
    std::uint64_t size = 0;
    std::shared_ptr<const void> pin = {};  // remove_unless() keeps the code while this exists.
  };
  // Refuses archives that cannot be unpacked.
  Result<Stored> put(std::string_view zip);
  Result<std::string> zip(std::string_view sha256) const;
  // The directory of the unpacked code.
  Result<std::filesystem::path> directory(std::string_view sha256);
  // Removes one code, unless it is pinned or `used` says that it is needed. No code is put
  // meanwhile, so what was put before and is in the catalogue is seen by `used`.
  void remove_unless(const std::string& sha256, const std::function<bool()>& used);
  // Removes all other zips, and all unpacked code. At start, before requests.
  void keep_only(const std::set<std::string>& sha256s);

 private:
  std::filesystem::path zip_path(std::string_view sha256) const;
  std::filesystem::path code_path(std::string_view sha256) const;
  Result<void> unpack_into_place(std::string_view zip, const std::filesystem::path& place);

  const Options options_;
  Mutex mutex_;
  // Pins of code that may not be in the catalogue yet.
  std::multimap<std::string, std::weak_ptr<const void>> pins_ GUARDED_BY(mutex_);
};

}  // namespace redrive::lambda
