#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "aws/s3/call.h"
#include "aws/s3/routes.h"

// The operations on values: a request in, an answer or a refusal out, and a store of files.

namespace redrive::s3 {
namespace {

using testing::HasSubstr;
using testing::Not;

class Operations : public testing::Test {
 protected:
  Operations() {
    auto opened = objects::Store::open({.root = directory_, .sync = objects::Sync::no});
    EXPECT_TRUE(opened);
    store_ = *std::move(opened);
    EXPECT_TRUE(ask("PUT", "box"));
  }
  ~Operations() override { std::filesystem::remove_all(directory_); }

  // The path is `bucket/key?query`.
  Outcome<Answer> ask(std::string_view method, std::string_view path, std::string_view body = {},
                      std::vector<http::Header> headers = {}) {
    http::Request request;
    request.method = method;
    request.headers = std::move(headers);
    request.body = body;
    const std::size_t question = std::min(path.find('?'), path.size());
    const std::string_view address = path.substr(0, question);
    const std::string_view query =
        question < path.size() ? path.substr(question + 1) : std::string_view();
    const std::size_t slash = std::min(address.find('/'), address.size());
    const Address where{
        .bucket = std::string(address.substr(0, slash)),
        .key = std::string(slash < address.size() ? address.substr(slash + 1) : "")};
    Call call{.store = *store_,
              .uploads = uploads_,
              .request = request,
              .caller = caller_,
              .address = where,
              .parameters = parse_parameters(query),
              .now = Timestamp(1'767'225'600'000)};
    const std::size_t action = TRY(find_s3_action(method, where, call.parameters));
    return s3_route(action).run(call);
  }
  std::string body_of(std::string_view path, std::vector<http::Header> headers = {}) {
    const auto answer = ask("GET", path, {}, std::move(headers));
    return answer ? answer->body : "(" + answer.error().code + ")";
  }
  std::string refused(std::string_view method, std::string_view path, std::string_view body = {},
                      std::vector<http::Header> headers = {}) {
    const auto answer = ask(method, path, body, std::move(headers));
    return answer ? "(accepted)" : answer.error().code;
  }
  static std::string header(const Answer& answer, std::string_view name) {
    for (const auto& [one, value] : answer.headers) {
      if (one == name) return value;
    }
    return "(none)";
  }

  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("redrive-s3-" + std::to_string(::getpid()));
  std::unique_ptr<objects::Store> store_;
  objects::Uploads uploads_{{}};
  const front::Caller caller_{.account = "000000000000", .region = "us-east-1", .sender_id = {}};
};

TEST_F(Operations, AnObjectIsReadAsItWasWritten) {
  const auto put = ask("PUT", "box/a/b.txt", "hello", {{"Content-Type", "text/plain"}});
  ASSERT_TRUE(put);
  EXPECT_EQ(header(*put, "ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  const auto got = ask("GET", "box/a/b.txt");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "hello");
  EXPECT_EQ(got->content_type, "text/plain");
  EXPECT_EQ(header(*got, "ETag"), header(*put, "ETag"));
}

TEST_F(Operations, AHeadHasTheLengthWithoutTheBody) {
  ASSERT_TRUE(ask("PUT", "box/k", "hello"));
  const auto answer = ask("HEAD", "box/k");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(answer->length, 5u);
}

TEST_F(Operations, ARangeIsAPartOfTheObject) {
  ASSERT_TRUE(ask("PUT", "box/k", "0123456789"));
  const auto part = ask("GET", "box/k", {}, {{"Range", "bytes=2-4"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, "234");
  EXPECT_EQ(header(*part, "Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(refused("GET", "box/k", {}, {{"Range", "bytes=10-"}}), "InvalidRange");
}

TEST_F(Operations, MetadataStaysWithTheObject) {
  ASSERT_TRUE(
      ask("PUT", "box/k", "x", {{"x-amz-meta-store", "17"}, {"Cache-Control", "no-cache"}}));
  const auto answer = ask("GET", "box/k");
  ASSERT_TRUE(answer);
  EXPECT_EQ(header(*answer, "x-amz-meta-store"), "17");
}

TEST_F(Operations, ADamagedUploadIsRefused) {
  EXPECT_EQ(refused("PUT", "box/k", "hello", {{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}),
            "BadDigest");
  EXPECT_EQ(body_of("box/k"), "(NoSuchKey)");
}

TEST_F(Operations, MissingThingsHaveTheErrorsOfS3) {
  EXPECT_EQ(refused("GET", "box/none"), "NoSuchKey");
  EXPECT_EQ(refused("GET", "none/k"), "NoSuchBucket");
  EXPECT_EQ(refused("PUT", "none/k", "x"), "NoSuchBucket");
  EXPECT_EQ(refused("DELETE", "none"), "NoSuchBucket");
  EXPECT_EQ(refused("GET", "box/k?uploadId=none"), "NoSuchUpload");
  EXPECT_EQ(refused("GET", "box?policy"), "NoSuchBucketPolicy");
  EXPECT_EQ(refused("PUT", "box?website"), "NotImplemented");
}

TEST_F(Operations, ABucketWithObjectsIsNotDeleted) {
  ASSERT_TRUE(ask("PUT", "box/k", "x"));
  EXPECT_EQ(refused("DELETE", "box"), "BucketNotEmpty");
  ASSERT_TRUE(ask("DELETE", "box/k"));
  EXPECT_TRUE(ask("DELETE", "box/k")) << "deleting what is gone is no error";
  EXPECT_TRUE(ask("DELETE", "box"));
}

TEST_F(Operations, BucketNamesFollowTheRules) {
  for (const char* name : {"B", "a", "a_b", "-ab", "ab-", "a..b"}) {
    EXPECT_EQ(refused("PUT", name), "InvalidBucketName") << name;
  }
}

TEST_F(Operations, ListsGroupKeysByADelimiter) {
  for (const char* key : {"a/1", "a/2", "b/1", "c"}) {
    ASSERT_TRUE(ask("PUT", std::string("box/") + key, "x"));
  }
  const std::string all = body_of("box?list-type=2&delimiter=/");
  EXPECT_THAT(all, HasSubstr("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"));
  EXPECT_THAT(all, HasSubstr("<Key>c</Key>"));
  EXPECT_THAT(all, Not(HasSubstr("<Key>a/1</Key>")));
  EXPECT_THAT(body_of("box?list-type=2&prefix=a/"), HasSubstr("<KeyCount>2</KeyCount>"));
  EXPECT_EQ(refused("GET", "box?list-type=2&max-keys=many"), "InvalidArgument");
}

TEST_F(Operations, AListContinuesAfterItsPage) {
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(ask("PUT", std::string("box/") + key, "x"));
  const std::string first = body_of("box?list-type=2&max-keys=2");
  EXPECT_THAT(first, HasSubstr("<IsTruncated>true</IsTruncated>"));
  const std::string_view kTag = "<NextContinuationToken>";
  const std::size_t begin = first.find(kTag) + kTag.size();
  const std::string token = first.substr(begin, first.find('<', begin) - begin);
  const std::string second = body_of("box?list-type=2&continuation-token=" + token);
  EXPECT_THAT(second, HasSubstr("<Key>c</Key>"));
  EXPECT_THAT(second, Not(HasSubstr("<Key>b</Key>")));
}

TEST_F(Operations, ManyObjectsAreDeletedAtOnce) {
  ASSERT_TRUE(ask("PUT", "box/x", "1"));
  const auto answer =
      ask("POST",
          "box?delete",
          "<Delete><Object><Key>x</Key></Object><Object><Key>none</Key></Object></Delete>");
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->body, HasSubstr("<Deleted><Key>x</Key></Deleted>"));
  EXPECT_THAT(answer->body, HasSubstr("<Deleted><Key>none</Key></Deleted>"));
  EXPECT_EQ(body_of("box/x"), "(NoSuchKey)");
  EXPECT_EQ(refused("POST", "box?delete", "<Delete>"), "MalformedXML");
}

TEST_F(Operations, AMultipartUploadIsOneObjectAtTheEnd) {
  const auto begun = ask("POST", "box/k?uploads");
  ASSERT_TRUE(begun);
  const std::string_view kTag = "<UploadId>";
  const std::size_t begin = begun->body.find(kTag) + kTag.size();
  const std::string id = begun->body.substr(begin, begun->body.find('<', begin) - begin);
  const auto part = ask("PUT", "box/k?partNumber=1&uploadId=" + id, "whole");
  ASSERT_TRUE(part);
  EXPECT_EQ(body_of("box/k"), "(NoSuchKey)");
  const std::string parts = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                            header(*part, "ETag") + "</ETag></Part></CompleteMultipartUpload>";
  ASSERT_TRUE(ask("POST", "box/k?uploadId=" + id, parts));
  EXPECT_EQ(body_of("box/k"), "whole");
  EXPECT_EQ(refused("POST", "box/k?uploadId=" + id, parts), "NoSuchUpload");
}

}  // namespace
}  // namespace redrive::s3
