#include "objects/store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "base/result.h"
#include "base/text.h"
#include "objects/names.h"

namespace redrive::objects {
namespace {

namespace fs = std::filesystem;

std::unexpected<Failure> no_such_bucket() {
  return failure(Fault::no_such_bucket, "The specified bucket does not exist");
}

Outcome<void> check_key(std::string_view key) {
  if (!key.empty() && key.size() <= kKeyBytesMax && is_utf8(key)) return {};
  return failure(Fault::invalid_key,
                 fmt::format("A key must be UTF-8 text of 1 to {} bytes.", kKeyBytesMax));
}

std::string md5_hex(std::string_view bytes) {
  const Md5 sum = md5(bytes);
  return to_hex({reinterpret_cast<const char*>(sum.data()), sum.size()});
}

std::string encode_settings(const BucketInfo& info) {
  std::string text = fmt::format("created {}\nowner {}\n", info.created.ms(), info.owner);
  for (const auto& [name, value] : info.tags) {
    text += fmt::format("tag {} {}\n", percent_encode(name, false), percent_encode(value, false));
  }
  return text;
}

// A bucket whose settings are lost still exists.
BucketInfo read_settings(const std::string& name, const fs::path& path,
                         const std::string& account) {
  BucketInfo info{.name = name, .owner = account, .created = {}, .tags = {}};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == "created") {
      info.created = Timestamp(parse_int<std::int64_t>(words[1]).value_or(0));
    } else if (words.size() == 2 && words[0] == "owner" && !words[1].empty()) {
      info.owner = words[1];
    } else if (words.size() == 3 && words[0] == "tag") {
      info.tags.emplace_back(percent_decode(words[1], false), percent_decode(words[2], false));
    }
  }
  return info;
}

Outcome<void> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_failure("create", path, error.value());
  return {};
}

// The first string after all strings that start with `prefix`; empty if there is none.
std::string behind(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

// --- Buckets ---

Outcome<std::unique_ptr<Store>> Store::open(Options options) {
  std::unique_ptr<Store> store(new Store(std::move(options)));
  RETURN_IF_ERROR(store->load());
  return store;
}

Outcome<void> Store::load() {
  const MutexLock lock(mutex_);
  std::error_code error;
  remove_leftovers(options_.root / "settings");
  fs::directory_iterator entries(options_.root / "buckets", error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) return system_failure("read", options_.root, error.value());
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!is_bucket_name(name)) continue;
    remove_leftovers(entry.path());
    buckets_[name].info = read_settings(name, settings_of(name), options_.account);
  }
  return {};
}

Outcome<void> Store::create_bucket(const std::string& name, Timestamp now,
                                   const std::string& owner) {
  if (!is_bucket_name(name)) {
    return failure(Fault::invalid_bucket_name, "The specified bucket is not valid.");
  }
  const std::string& account = owner.empty() ? options_.account : owner;
  MutexLock lock(mutex_);
  if (const auto found = buckets_.find(name); found != buckets_.end()) {
    if (options_.separate_accounts && found->second.info.owner != account) {
      return failure(Fault::bucket_taken,
                     "The requested bucket name is not available: another account has it.");
    }
    return failure(Fault::bucket_exists,
                   "Your previous request to create the named bucket succeeded and you already "
                   "own it.");
  }
  BucketInfo info{.name = name, .owner = account, .created = now, .tags = {}};
  RETURN_IF_ERROR(make_directories(options_.root / "buckets"));
  RETURN_IF_ERROR(make_directories(options_.root / "settings"));
  RETURN_IF_ERROR(sync_directory(options_.root.parent_path(), options_.sync));
  RETURN_IF_ERROR(sync_directory(options_.root, options_.sync));
  RETURN_IF_ERROR(save_settings(info));
  if (mkdir(directory_of(name).c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure("create", directory_of(name), errno);
  }
  RETURN_IF_ERROR(sync_directory(options_.root / "buckets", options_.sync));
  buckets_[name] = {.info = std::move(info), .keys = Keys()};
  return {};
}

Outcome<void> Store::delete_bucket(const std::string& name) {
  MutexLock lock(mutex_);
  Bucket* const bucket = TRY(find(name));
  // A put in progress has a file there too, and wins.
  const bool empty = TRY(keys_of(*bucket))->empty();
  if (!empty || rmdir(directory_of(name).c_str()) != 0) {
    if (!empty || errno == ENOTEMPTY || errno == EEXIST) {
      return failure(Fault::bucket_not_empty, "The bucket you tried to delete is not empty");
    }
    return system_failure("remove", directory_of(name), errno);
  }
  buckets_.erase(name);
  unlink(settings_of(name).c_str());
  return sync_directory(options_.root / "buckets", options_.sync);
}

Outcome<std::size_t> Store::clear() {
  MutexLock lock(mutex_);
  const std::size_t count = buckets_.size();
  for (const auto& [name, bucket] : buckets_) {
    std::error_code error;
    fs::remove_all(directory_of(name), error);
    if (error) return system_failure("remove", directory_of(name), error.value());
    unlink(settings_of(name).c_str());
  }
  buckets_.clear();
  if (count > 0) RETURN_IF_ERROR(sync_directory(options_.root / "buckets", options_.sync));
  return count;
}

Outcome<BucketInfo> Store::bucket(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) return no_such_bucket();
  return found->second.info;
}

bool Store::is_for(const std::string& bucket, std::string_view account) const {
  if (!options_.separate_accounts) return true;
  MutexLock lock(mutex_);
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() || found->second.info.owner == account;
}

std::vector<BucketInfo> Store::buckets() const {
  MutexLock lock(mutex_);
  std::vector<BucketInfo> infos;
  for (const auto& [name, bucket] : buckets_) infos.push_back(bucket.info);
  return infos;
}

Outcome<void> Store::set_tags(const std::string& name, Pairs tags) {
  MutexLock lock(mutex_);
  Bucket* const bucket = TRY(find(name));
  BucketInfo info = bucket->info;
  info.tags = std::move(tags);
  RETURN_IF_ERROR(save_settings(info));
  bucket->info = std::move(info);
  return {};
}

Outcome<Store::Bucket*> Store::find(const std::string& name) {
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) return no_such_bucket();
  return &found->second;
}

Outcome<Store::Keys*> Store::keys_of(Bucket& bucket) const {
  if (bucket.keys) return &*bucket.keys;
  const fs::path directory = directory_of(bucket.info.name);
  Keys keys;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const auto named = key_of_file(entry.path().filename().string());
    if (!named) continue;
    if (named->key) {
      keys.insert(*named->key);
      continue;
    }
    // An unreadable object cannot be listed; reading it by name returns the error.
    if (const auto file = ObjectFile::open(entry.path())) keys.insert(file->info().key);
  }
  if (error) return system_failure("read", directory, error.value());
  return &bucket.keys.emplace(std::move(keys));
}

Outcome<void> Store::save_settings(const BucketInfo& info) const {
  const std::string text = encode_settings(info);
  const std::array<std::string_view, 1> parts = {text};
  return write_durably(settings_of(info.name), parts, options_.sync);
}

fs::path Store::directory_of(std::string_view bucket) const {
  return options_.root / "buckets" / bucket;
}

fs::path Store::settings_of(std::string_view bucket) const {
  return options_.root / "settings" / bucket;
}

fs::path Store::path_of(std::string_view bucket, std::string_view key) const {
  return directory_of(bucket) / file_name_of(key);
}

// --- Objects ---

Outcome<ObjectInfo> Store::put(const std::string& bucket, const NewObject& object) {
  RETURN_IF_ERROR(check_key(object.key));
  RETURN_IF_ERROR(this->bucket(bucket));
  if (object.body.size() > options_.object_bytes_max) {
    return failure(Fault::too_large,
                   fmt::format("An object can have at most {} bytes on this server.",
                               options_.object_bytes_max));
  }
  ObjectInfo info{.key = std::string(object.key),
                  .size = object.body.size(),
                  .md5 = md5_hex(object.body),
                  .modified = object.modified,
                  .content_type = object.content_type,
                  .headers = object.headers};
  const std::string head = encode_head(info);
  const std::array<std::string_view, 2> parts = {head, object.body};
  const auto temporary = write_temporary(directory_of(bucket), parts, options_.sync);
  if (!temporary) {
    // The bucket may have been deleted meanwhile.
    RETURN_IF_ERROR(this->bucket(bucket));
    return std::unexpected(temporary.error());
  }
  RETURN_IF_ERROR(insert(bucket, object, *temporary));
  if (options_.sync == Sync::yes) RETURN_IF_ERROR(directory_syncs_(directory_of(bucket)));
  return info;
}

Outcome<void> Store::insert(const std::string& name, const NewObject& object,
                            const fs::path& temporary) {
  MutexLock lock(mutex_);
  const auto bucket = find(name);
  const auto keys = bucket ? keys_of(**bucket) : Outcome<Keys*>(no_such_bucket());
  if (!keys) {
    unlink(temporary.c_str());
    return std::unexpected(keys.error());
  }
  if (object.only_if_absent && (*keys)->contains(object.key)) {
    unlink(temporary.c_str());
    return failure(Fault::key_exists, "An object with this key already exists.");
  }
  RETURN_IF_ERROR(move_into_place(temporary, path_of(name, object.key)));
  (*keys)->emplace(object.key);
  return {};
}

Outcome<ObjectFile> Store::get(const std::string& bucket, std::string_view key) const {
  RETURN_IF_ERROR(this->bucket(bucket));
  RETURN_IF_ERROR(check_key(key));
  return ObjectFile::open(path_of(bucket, key));
}

Outcome<void> Store::remove(const std::string& name, std::string_view key) {
  RETURN_IF_ERROR(check_key(key));
  {
    MutexLock lock(mutex_);
    Bucket* const bucket = TRY(find(name));
    Keys* const keys = TRY(keys_of(*bucket));
    if (unlink(path_of(name, key).c_str()) != 0) {
      if (errno == ENOENT) return {};
      return system_failure("remove", path_of(name, key), errno);
    }
    if (const auto found = keys->find(key); found != keys->end()) keys->erase(found);
  }
  return sync_directory(directory_of(name), options_.sync);
}

// --- Listing ---

// Collects one page of keys.
struct Store::Page {
  const ListRequest& request;
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;
  std::string next;

  // Where the page starts.
  Keys::const_iterator begin(const Keys& all) const {
    const auto from_prefix = all.lower_bound(request.prefix);
    if (request.after < request.prefix) return from_prefix;
    std::string after(request.after);
    if (prefix_of(after) != after) return all.upper_bound(after);
    return skip(all, std::move(after));
  }

  static Keys::const_iterator skip(const Keys& all, std::string prefix) {
    const std::string next_text = behind(std::move(prefix));
    return next_text.empty() ? all.end() : all.lower_bound(next_text);
  }

  // The common prefix that represents the key; nullopt if the key is listed itself.
  std::optional<std::string> prefix_of(const std::string& key) const {
    if (request.delimiter.empty()) return std::nullopt;
    const std::size_t at = key.find(request.delimiter, request.prefix.size());
    if (at == std::string::npos) return std::nullopt;
    return key.substr(0, at + request.delimiter.size());
  }

  void fill(const Keys& all) {
    auto at = begin(all);
    while (at != all.end() && at->starts_with(request.prefix)) {
      if (keys.size() + prefixes.size() >= request.count_max) return;
      if (auto prefix = prefix_of(*at)) {
        next = *prefix;
        at = skip(all, *prefix);
        prefixes.push_back(std::move(*prefix));
      } else {
        next = *at;
        keys.push_back(*at++);
      }
    }
    next.clear();
  }
};

Outcome<Listing> Store::list(const std::string& bucket, const ListRequest& request) {
  Page page{.request = request, .keys = {}, .prefixes = {}, .next = {}};
  {
    MutexLock lock(mutex_);
    Bucket* const found = TRY(find(bucket));
    page.fill(*TRY(keys_of(*found)));
  }
  Listing listing{.objects = {}, .prefixes = std::move(page.prefixes), .next = page.next};
  for (const std::string& key : page.keys) {
    const auto file = ObjectFile::open(path_of(bucket, key));
    if (file) listing.objects.push_back(file->info());
    // An object deleted meanwhile is skipped; an unreadable one is an error.
    if (!file && file.error().fault != Fault::no_such_key) return std::unexpected(file.error());
  }
  return listing;
}

}  // namespace redrive::objects
