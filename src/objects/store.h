#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "objects/durable_file.h"
#include "objects/failure.h"
#include "objects/object_file.h"
#include "objects/shared_sync.h"

namespace redrive::objects {

struct BucketInfo {
  std::string name;
  std::string owner;  // Owning account.
  Timestamp created;
  Pairs tags;
};

struct NewObject {
  std::string_view key;
  std::string_view body;
  std::string content_type;
  Pairs headers;
  Timestamp modified;
  bool only_if_absent = false;
};

struct ListRequest {
  std::string_view prefix;
  std::string_view delimiter;  // Empty: keys are not grouped.
  std::string_view after;      // Only keys after this one, which may be a prefix or a key.
  std::size_t count_max = 1000;
};

// A page of a bucket in byte order. Keys with the same part up to a delimiter are grouped into one
// prefix.
struct Listing {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> prefixes;
  std::string next;  // Pass as `after` for the next page; empty: this is the last one.
};

// Buckets of objects as files in a directory:
//
//   ROOT/buckets/<bucket>/<escaped key>.object   see object_file.h
//   ROOT/settings/<bucket>                       creation time, owner, tags
//
// Buckets created before owners were stored belong to the server's own account.
//
// An object and its name are durable before `put` returns, and at any moment it is either the old
// or the new object, complete. A bucket exists if its directory does. The keys of a bucket are kept
// in memory from their first use on; everything else is read on demand.
//
// Thread-safe: mutex_ guards buckets_, and each rename and unlink together with the entry it
// changes, so that the two cannot disagree. Writing and syncing happen outside it.
class Store {
 public:
  struct Options {
    std::filesystem::path root;  // Created with the first bucket.
    Sync sync = Sync::yes;
    std::uint64_t object_bytes_max = std::uint64_t{64} << 20;
    std::string account = "000000000000";  // The server's own account.
    bool separate_accounts = false;        // Whether an account may write only to its own buckets.
  };

  // Deletes incomplete files left by a crash.
  static Outcome<std::unique_ptr<Store>> open(Options options);

  // `owner` is an account; empty: the server's own.
  Outcome<void> create_bucket(const std::string& name, Timestamp now,
                              const std::string& owner = {});
  Outcome<void> delete_bucket(const std::string& name);
  // Deletes all buckets with their objects; returns the number of buckets.
  Outcome<std::size_t> clear();
  Outcome<BucketInfo> bucket(const std::string& name) const;
  std::vector<BucketInfo> buckets() const;
  // Whether something that an account has set up may write to this bucket, which may since have
  // been recreated by another account.
  bool is_for(const std::string& bucket, std::string_view account) const;
  Outcome<void> set_tags(const std::string& bucket, Pairs tags);

  Outcome<ObjectInfo> put(const std::string& bucket, const NewObject& object);
  Outcome<ObjectFile> get(const std::string& bucket, std::string_view key) const;
  // Removing a missing object is not an error.
  Outcome<void> remove(const std::string& bucket, std::string_view key);
  Outcome<Listing> list(const std::string& bucket, const ListRequest& request);

 private:
  using Keys = std::set<std::string, std::less<>>;
  struct Bucket {
    BucketInfo info;
    std::optional<Keys> keys;  // nullopt: not loaded yet.
  };
  struct Page;

  explicit Store(Options options) : options_(std::move(options)) {}
  Outcome<void> load();
  Outcome<Bucket*> find(const std::string& name) REQUIRES(mutex_);
  Outcome<Keys*> keys_of(Bucket& bucket) const;
  Outcome<void> save_settings(const BucketInfo& info) const;
  Outcome<void> insert(const std::string& bucket, const NewObject& object,
                       const std::filesystem::path& temporary);
  std::filesystem::path directory_of(std::string_view bucket) const;
  std::filesystem::path settings_of(std::string_view bucket) const;
  std::filesystem::path path_of(std::string_view bucket, std::string_view key) const;

  const Options options_;
  mutable Mutex mutex_;
  std::map<std::string, Bucket> buckets_ GUARDED_BY(mutex_);
  DirectorySyncs directory_syncs_;  // Thread-safe by itself.
};

}  // namespace redrive::objects
