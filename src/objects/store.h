#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "objects/durable_file.h"
#include "objects/failure.h"
#include "objects/object_file.h"
#include "objects/shared_sync.h"

namespace redrive::objects {

struct BucketInfo {
  std::string name;
  std::string owner;  // The account that it belongs to.
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
  std::string_view delimiter;  // Empty: keys are not rolled up.
  std::string_view after;      // Only what comes behind this; itself a prefix or a key.
  std::size_t count_max = 1000;
};

// A page of a bucket in the order of bytes. Keys that share the part up to a delimiter are one
// prefix.
struct Listing {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> prefixes;
  std::string next;  // What the next page comes `after`; empty: this is the last one.
};

// Buckets of objects as files in a directory:
//
//   ROOT/buckets/<bucket>/<key with escapes>.object   see object_file.h
//   ROOT/settings/<bucket>                            when it was made, its owner, its tags
//
// Buckets made before owners were kept belong to the server's own account.
//
// An object is on disk, with its name, before `put` returns, and at any moment it is the old one or
// the new one, whole. A bucket is there when its directory is. The keys of a bucket are held in
// memory from the first time somebody asks for them, everything else is read when it is asked for.
//
// From any thread: mutex_ guards buckets_, and each renaming and unlinking together with the entry
// it changes, so that the two cannot disagree. Writing and syncing happen outside it.
class Store {
 public:
  struct Options {
    std::filesystem::path root;  // Made when the first bucket is.
    Sync sync = Sync::yes;
    std::uint64_t object_bytes_max = std::uint64_t{64} << 20;
    std::string account = "000000000000";  // The server's own.
    bool separate_accounts = false;        // Whether an account may write to its own buckets only.
  };

  // Clears away what was left half-written.
  static Outcome<std::unique_ptr<Store>> open(Options options);

  // `owner` is an account; empty: the server's own.
  Outcome<void> create_bucket(const std::string& name, Timestamp now,
                              const std::string& owner = {});
  Outcome<void> delete_bucket(const std::string& name);
  // Every bucket with all that is in it; how many there were.
  Outcome<std::size_t> clear();
  Outcome<BucketInfo> bucket(const std::string& name) const;
  std::vector<BucketInfo> buckets() const;
  // Whether something that an account has set up may write into this bucket. It may have become
  // another account's since then.
  bool is_for(const std::string& bucket, std::string_view account) const;
  Outcome<void> set_tags(const std::string& bucket, Pairs tags);

  Outcome<ObjectInfo> put(const std::string& bucket, const NewObject& object);
  Outcome<ObjectFile> get(const std::string& bucket, std::string_view key) const;
  // Taking away what is not there is no fault.
  Outcome<void> remove(const std::string& bucket, std::string_view key);
  Outcome<Listing> list(const std::string& bucket, const ListRequest& request);

 private:
  using Keys = std::set<std::string, std::less<>>;
  struct Bucket {
    BucketInfo info;
    std::optional<Keys> keys;  // None: not asked for yet.
  };
  struct Page;

  explicit Store(Options options) : options_(std::move(options)) {}
  Outcome<void> load();
  Outcome<Bucket*> find(const std::string& name);
  Outcome<Keys*> keys_of(Bucket& bucket) const;
  Outcome<void> save_settings(const BucketInfo& info) const;
  Outcome<void> insert(const std::string& bucket, const NewObject& object,
                       const std::filesystem::path& temporary);
  std::filesystem::path directory_of(std::string_view bucket) const;
  std::filesystem::path settings_of(std::string_view bucket) const;
  std::filesystem::path path_of(std::string_view bucket, std::string_view key) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
  DirectorySyncs directory_syncs_;  // Guards itself.
};

}  // namespace redrive::objects
