#include "objects/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "objects/names.h"

namespace redrive::objects {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Timestamp kNoon(1'700'000'000'000);

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string text = (fs::temp_directory_path() / "objects-XXXXXX").string();
    root_ = mkdtemp(text.data());
    reopen();
    EXPECT_TRUE(store_->create_bucket("bucket", kNoon));
  }
  ~StoreTest() override { fs::remove_all(root_); }

  void reopen() {
    auto opened =
        Store::open({.root = root_ / "objects", .sync = Sync::no, .object_bytes_max = 2000});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }
  void put(std::string_view key, std::string_view body = "x") {
    const auto done = store_->put("bucket", {.key = key, .body = body, .modified = kNoon});
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string read(std::string_view key) {
    const auto file = store_->get("bucket", key);
    if (!file) return "failed: " + file.error().message;
    const auto body = file->read(0, file->info().size);
    return body ? *body : "failed: " + body.error().message;
  }
  Listing list(const ListRequest& request = {}) {
    auto listing = store_->list("bucket", request);
    EXPECT_TRUE(listing);
    return listing ? *std::move(listing) : Listing{};
  }
  std::vector<std::string> keys(const ListRequest& request = {}) {
    std::vector<std::string> found;
    for (const auto& object : list(request).objects) found.push_back(object.key);
    return found;
  }
  std::vector<fs::path> files_outside() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(root_)) {
      if (entry.path().filename() != "objects") found.push_back(entry.path());
    }
    return found;
  }

  fs::path root_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, KeepsAnObjectWithAllThatIsKnownOfIt) {
  const NewObject object{.key = "a/b.txt",
                         .body = "hello world",
                         .content_type = "text/plain; charset=utf-8",
                         .headers = {{"x-amz-meta-colour", "blue\n and 100 %"}},
                         .modified = kNoon};
  ASSERT_TRUE(store_->put("bucket", object));
  reopen();
  const auto file = store_->get("bucket", "a/b.txt");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->info(),
            (ObjectInfo{.key = "a/b.txt",
                        .size = 11,
                        .md5 = "5eb63bbbe01eeed093cb22bb8f5acdc3",
                        .modified = kNoon,
                        .content_type = "text/plain; charset=utf-8",
                        .headers = {{"x-amz-meta-colour", "blue\n and 100 %"}}}));
  EXPECT_EQ(*file->read(6, 3), "wor");
}

TEST_F(StoreTest, NoKeyLeadsOutOfTheDirectory) {
  const std::vector<std::string> hostile = {".",
                                            "..",
                                            "../../escaped",
                                            "/etc/passwd",
                                            std::string("nul\0byte", 8),
                                            "%2e%2e/x",
                                            "~",
                                            "a\\b",
                                            "x.part",
                                            std::string(1024, 'k'),
                                            std::string(1023, '/') + "z"};
  for (const std::string& key : hostile) put(key, key);
  reopen();
  for (const std::string& key : hostile) EXPECT_EQ(read(key), key);
  EXPECT_EQ(keys().size(), hostile.size());
  EXPECT_THAT(files_outside(), IsEmpty());
  EXPECT_EQ(store_->put("bucket", {.key = std::string(1025, 'k')}).error().fault,
            Fault::invalid_key);
  EXPECT_EQ(store_->put("bucket", {.key = ""}).error().fault, Fault::invalid_key);
}

TEST_F(StoreTest, ANameThatLooksLikeADigestIsAnotherObject) {
  const std::string long_key(1000, 'k');
  put(long_key, "long");
  const std::string file = file_name_of(long_key);
  put(file.substr(0, file.size() - 7), "short");  // Without ".object".
  EXPECT_EQ(read(long_key), "long");
}

TEST_F(StoreTest, BucketsAreCalledAsS3CallsThem) {
  for (const char* name : {"..", "a/b", "ab", "Upper", "-a-", "a..b", "a b", ""}) {
    EXPECT_EQ(store_->create_bucket(name, kNoon).error().fault, Fault::invalid_bucket_name) << name;
  }
  EXPECT_TRUE(store_->create_bucket("my.bucket-1", kNoon));
  EXPECT_EQ(store_->create_bucket("my.bucket-1", kNoon).error().fault, Fault::bucket_exists);
}

TEST_F(StoreTest, ABucketKeepsItsOwner) {
  ASSERT_TRUE(store_->create_bucket("theirs", kNoon, "222222222222"));
  ASSERT_TRUE(store_->set_tags("theirs", {{"k", "v"}}));
  reopen();
  EXPECT_EQ(store_->bucket("theirs")->owner, "222222222222");
  EXPECT_EQ(store_->bucket("bucket")->owner, "000000000000");
}

// As left by an earlier version.
TEST_F(StoreTest, ABucketWithoutAnOwnerBelongsToTheServersAccount) {
  ASSERT_TRUE(store_->create_bucket("theirs", kNoon, "222222222222"));
  std::ofstream(root_ / "objects" / "settings" / "theirs") << "created 1700000000000\ntag k v\n";
  reopen();
  EXPECT_EQ(store_->bucket("theirs")->owner, "000000000000");
  EXPECT_EQ(store_->bucket("theirs")->created, kNoon);
}

TEST_F(StoreTest, AccountsAreKeptApartOnRequest) {
  ASSERT_TRUE(store_->create_bucket("theirs", kNoon, "222222222222"));
  EXPECT_TRUE(store_->is_for("theirs", "000000000000"));
  store_ = *Store::open({.root = root_ / "objects", .sync = Sync::no, .separate_accounts = true});
  EXPECT_FALSE(store_->is_for("theirs", "000000000000"));
  EXPECT_TRUE(store_->is_for("theirs", "222222222222"));
  EXPECT_TRUE(store_->is_for("not-there", "000000000000"));
  EXPECT_EQ(store_->create_bucket("theirs", kNoon).error().fault, Fault::bucket_taken);
  EXPECT_EQ(store_->create_bucket("theirs", kNoon, "222222222222").error().fault,
            Fault::bucket_exists);
}

TEST_F(StoreTest, OnlyAnEmptyBucketGoes) {
  put("k");
  EXPECT_EQ(store_->delete_bucket("bucket").error().fault, Fault::bucket_not_empty);
  ASSERT_TRUE(store_->remove("bucket", "k"));
  ASSERT_TRUE(store_->delete_bucket("bucket"));
  EXPECT_EQ(store_->delete_bucket("bucket").error().fault, Fault::no_such_bucket);
  reopen();
  EXPECT_THAT(store_->buckets(), IsEmpty());
  EXPECT_EQ(store_->put("bucket", {.key = "k"}).error().fault, Fault::no_such_bucket);
}

TEST_F(StoreTest, TagsOutliveARestart) {
  ASSERT_TRUE(store_->set_tags("bucket", {{"team", "a b=c"}}));
  reopen();
  EXPECT_THAT(store_->bucket("bucket")->tags, ElementsAre(testing::Pair("team", "a b=c")));
  EXPECT_EQ(store_->bucket("bucket")->created, kNoon);
}

TEST_F(StoreTest, WhatACrashLeftHalfWrittenIsClearedAway) {
  put("k", "old");
  const fs::path left = root_ / "objects/buckets/bucket/1-1.part";
  std::ofstream(left) << "half an obj";
  reopen();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(read("k"), "old");
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_F(StoreTest, DamageIsToldNotServed) {
  put("k", "payload");
  const fs::path path = root_ / "objects/buckets/bucket" / file_name_of("k");
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_EQ(store_->get("bucket", "k").error().fault, Fault::damaged);
  put("k", "payload");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('X');
  }
  EXPECT_EQ(store_->get("bucket", "k")->read(0, 7).error().fault, Fault::damaged);
}

TEST_F(StoreTest, ListsInTheOrderOfBytesAndPagesWithoutGaps) {
  for (const char* key : {"b/2", "b/1", "a", "c", "b", "\xc3\xbc", "b/1/x"}) put(key);
  EXPECT_THAT(keys(), ElementsAre("a", "b", "b/1", "b/1/x", "b/2", "c", "\xc3\xbc"));
  EXPECT_THAT(keys({.prefix = "b/"}), ElementsAre("b/1", "b/1/x", "b/2"));
  std::vector<std::string> paged;
  std::string after;
  do {
    const Listing page = list({.after = after, .count_max = 2});
    for (const auto& object : page.objects) paged.push_back(object.key);
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ(paged, keys());
}

TEST_F(StoreTest, RollsUpWhatSharesAPrefixOnce) {
  for (const char* key : {"a/1", "a/2", "a0", "b/", "b/c/d", "z"}) put(key);
  const Listing all = list({.delimiter = "/"});
  EXPECT_THAT(all.prefixes, ElementsAre("a/", "b/"));
  EXPECT_EQ(all.objects.size(), 2u);
  // Over all pages nothing is repeated or skipped.
  std::vector<std::string> seen;
  std::string after;
  do {
    const Listing page = list({.delimiter = "/", .after = after, .count_max = 1});
    for (const auto& prefix : page.prefixes) seen.push_back(prefix);
    for (const auto& object : page.objects) seen.push_back(object.key);
    after = page.next;
  } while (!after.empty());
  EXPECT_THAT(seen, ElementsAre("a/", "a0", "b/", "z"));
  // An object with the name of its folder is part of its contents.
  const Listing first = list({.prefix = "b/", .delimiter = "/", .count_max = 1});
  ASSERT_EQ(first.objects.size(), 1u);
  EXPECT_EQ(first.objects[0].key, "b/");
  const Listing second = list({.prefix = "b/", .delimiter = "/", .after = first.next});
  EXPECT_THAT(second.prefixes, ElementsAre("b/c/"));
}

TEST_F(StoreTest, LimitsSizesAndKeepsWhatWasNotToBeReplaced) {
  EXPECT_EQ(store_->put("bucket", {.key = "k", .body = std::string(2001, 'x')}).error().fault,
            Fault::too_large);
  put("k", "first");
  EXPECT_EQ(
      store_->put("bucket", {.key = "k", .body = "second", .only_if_absent = true}).error().fault,
      Fault::key_exists);
  EXPECT_EQ(read("k"), "first");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "objects/buckets/bucket"), {}), 1);
}

TEST_F(StoreTest, ThreadsDoNotTearWhatTheyShare) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string body(100, static_cast<char>('a' + t));
        EXPECT_TRUE(store_->put("bucket", {.key = "shared", .body = body}));
        const auto file = store_->get("bucket", "shared");
        EXPECT_TRUE(!file || file->read(0, 100));
        if (i % 10 != t) continue;
        EXPECT_TRUE(store_->remove("bucket", "shared"));
      }
    });
  }
  threads.clear();
  const bool listed = !keys().empty();
  EXPECT_EQ(listed, store_->get("bucket", "shared").has_value());
}

}  // namespace
}  // namespace redrive::objects
