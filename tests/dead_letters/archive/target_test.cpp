#include "dead_letters/archive/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>

#include "dead_letters/archive/s3_target.h"

namespace redrive::archive {
namespace {

namespace fs = std::filesystem;

TEST(ArchiveLocation, IsABucketOrADirectory) {
  const auto s3 = parse_archive_location("s3://bucket/a/b/");
  ASSERT_TRUE(s3);
  EXPECT_EQ(s3->bucket, "bucket");
  EXPECT_EQ(s3->prefix, "a/b");
  EXPECT_EQ(parse_archive_location("s3://bucket")->prefix, "");
  EXPECT_EQ(parse_archive_location("file:///var/archive")->directory, "/var/archive");
  for (const char* text : {"", "bucket", "s3://", "s3:///x", "file://relative", "http://x/y"}) {
    EXPECT_FALSE(parse_archive_location(text)) << text;
  }
}

TEST(DirectoryTarget, KeepsDocumentsAsFiles) {
  std::string text = (fs::temp_directory_path() / "archive-XXXXXX").string();
  const fs::path root = mkdtemp(text.data());
  const auto target = directory_target((root / "new" / "dir").string());
  EXPECT_TRUE(target->list("", "")->entries.empty());
  ASSERT_TRUE(target->put("p/b.json", "second"));
  ASSERT_TRUE(target->put("p/a.json", "first"));
  ASSERT_TRUE(target->put("p/a.json", "again"));
  EXPECT_EQ(*target->get("p/a.json"), "again");
  const auto page = target->list("p/", "");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->entries,
              testing::ElementsAre(ArchiveEntry{"p/a.json", 5}, ArchiveEntry{"p/b.json", 6}));
  ASSERT_TRUE(target->remove("p/a.json"));
  ASSERT_TRUE(target->remove("p/a.json"));
  EXPECT_EQ(target->get("p/a.json").error().code, ErrorCode::resource_not_found);
  for (const char* key : {"../out", "a/../../out", "/etc/x", "", "a//b"}) {
    EXPECT_FALSE(target->put(key, "x")) << key;
  }
  EXPECT_FALSE(fs::exists(root / "out"));
  fs::remove_all(root);
}

TEST(DirectoryTarget, KeepsSeveralAtOnceEachByItself) {
  std::string text = (fs::temp_directory_path() / "target-XXXXXX").string();
  const fs::path root = mkdtemp(text.data());
  const auto target = directory_target(root.string());
  const std::vector<NewDocument> documents = {
      {"one/a.json", "a"}, {"../out", "x"}, {"two/b.json", "b"}, {"one/c.json", "c"}};
  const auto results = target->put_all(documents);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_FALSE(results[1]);
  for (const std::size_t i : {0u, 2u, 3u}) {
    EXPECT_TRUE(results[i]);
    EXPECT_EQ(*target->get(documents[i].key), documents[i].text);
  }
  EXPECT_EQ(target->list("", "")->entries.size(), 3u);  // And no incomplete files.
  fs::remove_all(root);
}

class S3TargetTest : public testing::Test {
 protected:
  std::unique_ptr<ArchiveTarget> target(Addressing addressing = Addressing::path) {
    return s3_target({.endpoint = "https://s3.example:9000",
                      .bucket = "bucket",
                      .region = "eu-west-1",
                      .addressing = addressing,
                      .credentials = auth::Credentials{"key", "secret", ""}},
                     {.send =
                          [this](const http::ClientRequest& request) {
                            sent_.push_back(request);
                            auto answer = answers_.front();
                            if (answers_.size() > 1) answers_.pop_front();
                            return answer;
                          },
                      .sleep = [this](Duration pause) { pauses_.push_back(pause); },
                      .clock = clock_,
                      .seed = 1});
  }
  void answer(int status, std::string body = {}) {
    answers_.push_back(http::ClientResponse{.status = status, .headers = {}, .body = body});
  }

  ManualClock clock_;
  std::deque<Result<http::ClientResponse>> answers_;
  std::vector<http::ClientRequest> sent_;
  std::vector<Duration> pauses_;
};

TEST_F(S3TargetTest, AddressesInBothStyles) {
  answer(200);
  ASSERT_TRUE(target()->put("a b/c.json", "{}"));
  ASSERT_TRUE(target(Addressing::virtual_host)->put("a b/c.json", "{}"));
  EXPECT_EQ(sent_[0].url, "https://s3.example:9000/bucket/a%20b/c.json");
  EXPECT_EQ(sent_[1].url, "https://bucket.s3.example:9000/a%20b/c.json");
  EXPECT_THAT(sent_[0].headers,
              testing::Contains(testing::Pair("Content-MD5", "mZFLkyvTelC5g8XnyQrpOw==")));
  EXPECT_THAT(sent_[0].headers,
              testing::Contains(testing::Pair("Authorization",
                                              testing::HasSubstr("/eu-west-1/s3/aws4_request"))));
}

TEST_F(S3TargetTest, TriesAgainWhatMayGoBetterLater) {
  answer(503);
  answers_.push_back(fail(ErrorCode::network, "gone"));
  answer(200);
  ASSERT_TRUE(target()->put("k", "x"));
  EXPECT_EQ(sent_.size(), 3u);
  EXPECT_EQ(pauses_.size(), 2u);
  EXPECT_LT(pauses_[0], pauses_[1] + Duration(1));
}

TEST_F(S3TargetTest, DoesNotAskAgainWhatWasRefused) {
  answer(403, "<Error><Code>AccessDenied</Code><Message>no &amp; never</Message></Error>");
  const auto refused = target()->put("k", "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::access_denied);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("no & never"));
  EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(S3TargetTest, GivesUpInTheEnd) {
  answer(500);
  EXPECT_FALSE(target()->get("k"));
  EXPECT_EQ(sent_.size(), 6u);
}

TEST_F(S3TargetTest, ListsPageByPage) {
  answer(200,
         "<?xml version='1.0'?><ListBucketResult xmlns='x'><IsTruncated>true</IsTruncated>"
         "<Contents><Key>a&lt;b</Key><Size>3</Size></Contents>"
         "<NextContinuationToken>t/1=</NextContinuationToken></ListBucketResult>");
  answer(200, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
  const auto place = target();
  const auto first = place->list("p/", "");
  ASSERT_TRUE(first);
  EXPECT_THAT(first->entries, testing::ElementsAre(ArchiveEntry{"a<b", 3}));
  EXPECT_EQ(first->next, "t/1=");
  EXPECT_EQ(place->list("p/", first->next)->next, "");
  EXPECT_THAT(sent_[1].url, testing::HasSubstr("continuation-token=t%2F1%3D"));
}

TEST_F(S3TargetTest, NonsenseIsNotAnEmptyList) {
  answer(200, "<html>hello</html>");
  EXPECT_FALSE(target()->list("", ""));
}

}  // namespace
}  // namespace redrive::archive
