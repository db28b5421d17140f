#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/ids.h"
#include "objects/store.h"
#include "objects/uploads.h"

namespace redrive::app {

// The archive buckets: below the data directory, or with --memory in a temporary directory that is
// removed with this object.
class Buckets {
 public:
  static Result<std::unique_ptr<Buckets>> open(const Config& config, IdSource& ids);
  ~Buckets();
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  objects::Store& store() { return *store_; }
  objects::Uploads& uploads() { return uploads_; }

  // The account that owns the bucket; none: there is no such bucket.
  std::optional<std::string> owner_of(const std::string& bucket) const;
  // Removes every bucket and every unfinished upload; returns how many buckets there were.
  Result<std::size_t> clear();

 private:
  Buckets(const Config& config, std::filesystem::path path);

  const bool temporary_;
  const std::filesystem::path path_;
  objects::Uploads uploads_;
  std::unique_ptr<objects::Store> store_;
};

}  // namespace redrive::app
