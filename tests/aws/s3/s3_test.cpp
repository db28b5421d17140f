#include <gtest/gtest.h>

#include "aws/s3/address.h"
#include "aws/s3/byte_range.h"
#include "aws/s3/checksum.h"

namespace redrive::s3 {
namespace {

http::Request request_of(std::string_view method, std::string_view target,
                         std::vector<http::Header> headers = {}) {
  http::Request request;
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  request.headers = std::move(headers);
  return request;
}

TEST(IsS3Request, IsRecognisedAmongTheApisOfOnePort) {
  const http::Header s3{"Authorization",
                        "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, "
                        "SignedHeaders=host, Signature=00"};
  const http::Header sqs{"Authorization",
                         "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/sqs/aws4_request, "
                         "SignedHeaders=host, Signature=00"};
  struct Case {
    const char* name;
    http::Request request;
    bool is_s3;
  };
  const std::vector<Case> cases = {
      {"signed for S3", request_of("GET", "/", {s3}), true},
      {"batch delete", request_of("POST", "/b?delete", {s3}), true},
      {"signed for SQS", request_of("GET", "/b/k", {sqs}), false},
      {"JSON", request_of("POST", "/", {{"X-Amz-Target", "AmazonSQS.ListQueues"}}), false},
      {"query form", request_of("POST", "/"), false},
      {"unsigned put", request_of("PUT", "/b/k"), true},
      {"unsigned get", request_of("GET", "/b/k"), true},
      {"greeting", request_of("GET", "/"), false},
      {"health", request_of("GET", "/health"), false},
      {"queue", request_of("GET", "/000000000000/orders"), false},
      {"action", request_of("GET", "/x?Action=ListQueues"), false},
      {"old presigned link", request_of("GET", "/b/k?AWSAccessKeyId=k&Signature=s"), true},
  };
  for (const Case& one : cases) EXPECT_EQ(is_s3_request(one.request), one.is_s3) << one.name;
}

TEST(AddressOf, AcceptsPathAndHostStyle) {
  const std::vector<std::string> domains = {"*.queue.example"};
  const HostNames names{.domains = domains,
                        .is_bucket = [](const std::string& name) { return name == "my.bucket"; }};
  struct Case {
    const char* host;
    const char* path;
    const char* bucket;
    const char* key;
  };
  const std::vector<Case> cases = {
      {"127.0.0.1:9324", "/b/a%20b/c", "b", "a b/c"},
      {"127.0.0.1:9324", "/b", "b", ""},
      {"127.0.0.1:9324", "/b/", "b", ""},
      {"localhost:9324", "/b/k+k", "b", "k+k"},
      {"[::1]:9324", "/b/k", "b", "k"},
      {"new.localhost:9324", "/k/l", "new", "k/l"},
      {"new.s3.localhost", "/k", "new", "k"},
      {"s3.localhost", "/b/k", "b", "k"},
      {"my.bucket.queue.example", "/k", "my.bucket", "k"},
      {"my.bucket.anything", "/k", "my.bucket", "k"},
      {"queue.example", "/b/k", "b", "k"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.host);
    const Address address = address_of(one.host, one.path, names);
    EXPECT_EQ(address.bucket, one.bucket);
    EXPECT_EQ(address.key, one.key);
  }
}

TEST(ChooseRange, ServesOnePartOrTheWhole) {
  const auto range = [](std::string_view header, std::uint64_t size = 10) {
    return choose_range(header, size);
  };
  EXPECT_EQ(range("bytes=0-3").range, (ByteRange{0, 4}));
  EXPECT_EQ(range("bytes=7-").range, (ByteRange{7, 3}));
  EXPECT_EQ(range("bytes=-4").range, (ByteRange{6, 4}));
  EXPECT_EQ(range("bytes=-40").range, (ByteRange{0, 10}));
  EXPECT_EQ(range("bytes=9-99999999999999999999").partial, false);
  for (const char* header : {"bytes=10-", "bytes=-0", "bytes=10-12"}) {
    EXPECT_TRUE(range(header).unsatisfiable) << header;
  }
  EXPECT_TRUE(range("bytes=0-", 0).unsatisfiable);
  for (const char* header :
       {"", "bytes=", "bytes=5-2", "bytes=0-1,4-5", "lines=0-1", "bytes=a-b"}) {
    EXPECT_FALSE(range(header).partial) << header;
    EXPECT_EQ(range(header).range, (ByteRange{0, 10})) << header;
  }
}

// The check values of the CRC catalogue.
TEST(CheckDigests, MatchesTheCheckValuesOfTheCatalogue) {
  const HeaderPairs right = {{"x-amz-checksum-crc32", "y/Q5Jg=="},
                             {"x-amz-checksum-crc32c", "4waSgw=="},
                             {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="},
                             {"unrelated", "x"}};
  const auto kept = check_digests("123456789", right);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->size(), 3u);
  for (const auto& one : right) {
    if (one.first == "unrelated") continue;
    EXPECT_EQ(check_digests("123456780", {one}).error().code, "BadDigest") << one.first;
  }
}

TEST(HttpDate, HasTheFormOfTheRfc) {
  EXPECT_EQ(http_date(Timestamp(784'111'777'000)), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace redrive::s3
