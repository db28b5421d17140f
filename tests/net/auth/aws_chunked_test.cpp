#include "net/auth/aws_chunked.h"

#include <gtest/gtest.h>

namespace redrive::auth {
namespace {

// The example of AWS's page "Signature Calculations for the Authorization Header: Transferring
// Payload in Multiple Chunks".
class AwsExample : public testing::Test {
 protected:
  static std::string chunk(std::size_t bytes, std::string_view size, std::string_view signature) {
    std::string out(size);
    out.append(";chunk-signature=").append(signature).append("\r\n");
    out.append(bytes, 'a');
    return bytes > 0 ? out + "\r\n" : out;
  }
  static std::string body() {
    return chunk(
               65536, "10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648") +
           chunk(1024, "400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497") +
           chunk(0, "0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9") +
           "\r\n";
  }

  Claim claim_{.scope = {.access_key = "AKIAIOSFODNN7EXAMPLE",
                         .date = "20130524",
                         .region = "us-east-1",
                         .service = "s3"},
               .signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
               .date_text = "20130524T000000Z"};
  ChunkSigning signing_{claim_, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
};

TEST_F(AwsExample, IsProvenAndDecoded) {
  const auto decoded = decode_aws_chunked(body(), 66560, signing_);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, std::string(66560, 'a'));
}

TEST_F(AwsExample, EveryPartOfItIsCovered) {
  for (const std::size_t at : {200u, 66000u}) {
    std::string changed = body();
    changed[at] = 'b';
    EXPECT_EQ(decode_aws_chunked(changed, 66560, signing_).error().code,
              ErrorCode::signature_does_not_match)
        << at;
  }
  std::string swapped =
      chunk(0, "0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9");
  EXPECT_EQ(decode_aws_chunked(swapped, 0, signing_).error().code,
            ErrorCode::signature_does_not_match);
  EXPECT_EQ(decode_aws_chunked("0\r\n\r\n", 0, signing_).error().code,
            ErrorCode::signature_does_not_match);
}

TEST(AwsChunked, WithoutSignatures) {
  struct Case {
    std::string body;
    std::size_t bytes;
    std::optional<std::string> decoded;  // nullopt: malformed.
  };
  const Case cases[] = {
      {"0\r\n\r\n", 0, ""},
      {"0\r\n", 0, ""},
      {"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", 5, "hello"},
      {"5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n", 10, "helloworld"},
      {"A\r\n0123456789\r\n0\r\n\r\n", 10, "0123456789"},
      {"5\r\nhello\r\n0\r\n\r\n", 6, std::nullopt},
      {"5\r\nhello\r\n0\r\n\r\n", 4, std::nullopt},
      {"5\r\nhell", 5, std::nullopt},
      {"5\r\nhelloXX0\r\n\r\n", 5, std::nullopt},
      {"\r\n", 0, std::nullopt},
      {"-1\r\n", 0, std::nullopt},
      {"fffffffffffffffff\r\n", 0, std::nullopt},
      {"ffffffffffffffff\r\nx", 1, std::nullopt},
      {"0\r\nno colon\r\n\r\n", 0, std::nullopt},
      {"", 0, std::nullopt},
      // An unterminated trailer may have been cut off.
      {"0\r\nx-amz-checksum-crc32:NhCmhg==", 0, std::nullopt},
      {"0\r\nx-amz-checksum-crc32:NhCmhg==\r", 0, std::nullopt},
      {"0\r\na:b\r\nx-amz-checksum-crc32:NhCm", 0, std::nullopt},
  };
  for (const Case& one : cases) {
    const auto decoded = decode_aws_chunked(one.body, one.bytes, std::nullopt);
    EXPECT_EQ(decoded.has_value(), one.decoded.has_value()) << one.body;
    if (decoded && one.decoded) {
      EXPECT_EQ(*decoded, *one.decoded);
    }
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, ErrorCode::malformed_request);
    }
  }
}

// Trailers are stored individually, which takes far more memory than they take on the wire.
TEST(AwsChunked, BoundsTheTrailers) {
  std::string many = "0\r\n";
  for (int i = 0; i < 10'000; ++i) many += "a:\r\n";
  for (const std::string& body : {many + "\r\n", "0\r\na:" + std::string(100'000, 'b') + "\r\n"}) {
    Trailers trailers;
    const auto decoded = decode_aws_chunked(body, 0, std::nullopt, &trailers);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(decoded.error().message, "The trailers are too large.");
    EXPECT_LT(trailers.size(), 3'000u);
  }
}

}  // namespace
}  // namespace redrive::auth
