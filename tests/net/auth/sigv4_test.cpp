#include "net/auth/sigv4.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/digest.h"
#include "base/text.h"
#include "net/auth/canonical_request.h"
#include "net/auth/signing_key.h"

namespace redrive::auth {
namespace {

// 2015-08-30 12:36:00, the time of AWS's published test suite. The other signatures below come from
// botocore 1.29 at the same time with the same keys.
constexpr Timestamp kNow{1'440'938'160'000};
const Credentials kKeys{.access_key = "AKIDEXAMPLE",
                        .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
constexpr std::string_view kJsonBody =
    R"({"QueueUrl":"http://127.0.0.1:9324/000000000000/orders","MessageBody":"h\u20acllo"})";
constexpr std::string_view kToken = "AQoDYXdzEPT//////////wEXAMPLE==";

using Headers = std::vector<HeaderField>;

struct Vector {
  const char* name;
  std::string_view method;
  std::string_view path;
  std::string_view query;
  Headers headers;
  std::string_view body;
  SigningTarget target;
  std::string_view token;
  std::string_view signed_headers;
  std::string_view signature;
};

const Headers kExample = {{"Host", "example.amazonaws.com"}};
const SigningTarget kService{"us-east-1", "service"};

const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = {
      {"get-vanilla",
       "GET",
       "/",
       "",
       kExample,
       "",
       kService,
       "",
       "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-slash and relative",
       "GET",
       "/example/..//",
       "",
       kExample,
       "",
       kService,
       "",
       "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"post-vanilla",
       "POST",
       "/",
       "",
       kExample,
       "",
       kService,
       "",
       "host;x-amz-date",
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"get-vanilla-query-order-key-case",
       "GET",
       "/",
       "Param2=value2&Param1=value1",
       kExample,
       "",
       kService,
       "",
       "host;x-amz-date",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"SendMessage as JSON",
       "POST",
       "/",
       "",
       {{"Content-Type", "application/x-amz-json-1.0"},
        {"X-Amz-Target", "AmazonSQS.SendMessage"},
        {"x-amzn-query-mode", "true"},
        {"Host", "127.0.0.1:9324"},
        {"User-Agent", "not covered"}},
       kJsonBody,
       {"us-east-1", "sqs"},
       "",
       "content-type;host;x-amz-date;x-amz-target;x-amzn-query-mode",
       "2cc8ebab8e2e446dc0a4708446c9b622fd0b1b4c2dd7caeceed9401be293dbc1"},
      {"session token, path encoded twice",
       "POST",
       "/000000000000/my%20queue",
       "",
       {{"Content-Type", "  application/x-www-form-urlencoded;   charset=utf-8 "},
        {"Host", "localhost:9324"}},
       "Action=SendMessage&MessageBody=a+b",
       {"eu-central-1", "sqs"},
       kToken,
       "content-type;host;x-amz-date;x-amz-security-token",
       "9ab07e6c3092a81f136a37a89973481287a29d9bfcf6906b56062a2e96716862"},
      {"query sorted by name, then value",
       "GET",
       "/000000000000/a//b/../c/",
       "Foo=z%20y&Action=ListQueues&Foo=a&Empty=&Tilde=~",
       {{"Host", "localhost:9324"}},
       "",
       {"us-east-1", "sqs"},
       "",
       "host;x-amz-date",
       "43e6e8a160e50003fbea237b5ee90218a0d6839af9cd9293ec26f0111de5ad26"},
      {"S3 path as it travels",
       "PUT",
       "/bucket/a%20key//with+plus",
       "",
       {{"Host", "localhost:9000"}},
       "body",
       {"us-east-1", "s3"},
       "",
       "host;x-amz-content-sha256;x-amz-date",
       "82fc6f7eaa3f274a1cfe9f97eef00d35aac3a44492799b19364fd9daf698f47d"},
  };
  return all;
}

RequestParts parts_of(const Vector& vector, const Headers& headers) {
  return {.method = vector.method,
          .path = vector.path,
          .query = vector.query,
          .headers = headers,
          .body = vector.body};
}

Credentials keys_of(const Vector& vector) {
  Credentials keys = kKeys;
  keys.session_token = vector.token;
  return keys;
}

// A request as the server sees it: the client's headers and those added by signing.
struct Received {
  explicit Received(const Vector& vector, Timestamp at = kNow)
      : added(sign(parts_of(vector, vector.headers), keys_of(vector), vector.target, at)),
        headers(vector.headers),
        parts(parts_of(vector, headers)) {
    for (const auto& [name, value] : added) headers.push_back({name, value});
    parts.headers = headers;
  }
  Received(const Received&) = delete;

  HeaderField& header(std::string_view name) {
    for (HeaderField& field : headers) {
      if (field.name == name) return field;
    }
    ADD_FAILURE() << "no header " << name;
    return headers.front();
  }

  Result<void> verified(Expectation expectation = {.now = kNow},
                        std::string_view secret = kKeys.secret_key) {
    parts.headers = headers;
    const Claim claim = TRY(claim_of(parts));
    return verify(parts, claim, secret, expectation);
  }

  SignatureHeaders added;
  Headers headers;
  RequestParts parts;
};

const Vector& json_vector() {
  return vectors()[4];
}

ErrorCode code_of(const Result<void>& result) {
  return result ? ErrorCode::internal_failure : result.error().code;
}

TEST(Sign, GivesThePublishedSignatures) {
  for (const Vector& vector : vectors()) {
    SCOPED_TRACE(vector.name);
    const auto added = sign(parts_of(vector, vector.headers), keys_of(vector), vector.target, kNow);
    EXPECT_EQ(added.front(),
              (std::pair<std::string, std::string>("X-Amz-Date", "20150830T123600Z")));
    const std::string expected =
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/" + vector.target.region + "/" +
        vector.target.service +
        "/aws4_request, SignedHeaders=" + std::string(vector.signed_headers) +
        ", Signature=" + std::string(vector.signature);
    EXPECT_EQ(added.back().second, expected);
  }
}

TEST(Verify, AcceptsWhatSignMade) {
  for (const Vector& vector : vectors()) {
    SCOPED_TRACE(vector.name);
    Received received(vector);
    const auto result = received.verified();
    EXPECT_TRUE(result) << result.error().message;
  }
}

TEST(Verify, RefusesWhatWasChangedOnTheWay) {
  const struct {
    const char* name;
    std::function<void(Received&)> change;
  } cases[] = {
      {"body", [](Received& r) { r.parts.body = "{}"; }},
      {"method", [](Received& r) { r.parts.method = "PUT"; }},
      {"path", [](Received& r) { r.parts.path = "/other"; }},
      {"query", [](Received& r) { r.parts.query = "a=b"; }},
      {"action", [](Received& r) { r.header("X-Amz-Target").value = "AmazonSQS.PurgeQueue"; }},
      {"host", [](Received& r) { r.header("Host").value = "evil"; }},
      {"a covered header twice",
       [](Received& r) {
         r.headers.push_back({"Host", "evil"});
       }},
      {"an amz header added",
       [](Received& r) {
         r.headers.push_back({"X-Amz-Extra", "1"});
       }},
      {"digest of another body",
       [](Received& r) {
         r.headers.push_back({"X-Amz-Content-Sha256", "00"});
       }},
      {"a body declared unsigned",
       [](Received& r) {
         r.headers.push_back({"X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"});
       }},
      {"date", [](Received& r) { r.header("X-Amz-Date").value = "20150830T123601Z"; }},
      {"date outside the scope",
       [](Received& r) { r.header("X-Amz-Date").value = "20150831T000000Z"; }},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    Received received(json_vector());
    test.change(received);
    EXPECT_EQ(code_of(received.verified({.now = kNow, .skew_max = std::chrono::hours(24)})),
              ErrorCode::signature_does_not_match);
  }
}

TEST(Verify, AcceptsChangesOutsideTheSignature) {
  Received received(json_vector());
  received.header("User-Agent").value = "another";
  received.headers.push_back({"X-Forwarded-For", "10.0.0.1"});
  EXPECT_TRUE(received.verified());
}

// A key derived from the old secret is cached; it must not be used for the new one.
TEST(Verify, RefusesAnotherSecretForTheSameKey) {
  Received received(json_vector());
  EXPECT_TRUE(received.verified());
  EXPECT_EQ(code_of(received.verified({.now = kNow}, "rotated")),
            ErrorCode::signature_does_not_match);
  EXPECT_TRUE(received.verified());
}

TEST(Verify, HoldsTheClockToTheSkew) {
  using namespace std::chrono_literals;
  const struct {
    Duration age;
    bool accepted;
  } cases[] = {{0ms, true}, {5min, true}, {5min + 1ms, false}, {-5min, true}, {-5min - 1ms, false}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.age.count());
    Received received(json_vector());
    EXPECT_EQ(received.verified({.now = kNow + test.age}).has_value(), test.accepted);
  }
}

TEST(Verify, HoldsTheScopeToRegionAndService) {
  Received received(json_vector());
  const std::string_view queues[] = {"redrive", "sqs"};
  const std::string_view roles[] = {"iam"};
  EXPECT_TRUE(received.verified({.now = kNow, .region = "us-east-1", .services = queues}));
  const auto region = received.verified({.now = kNow, .region = "eu-west-1"});
  EXPECT_EQ(region.error().message, "Credential should be scoped to a valid region.");
  const auto service = received.verified({.now = kNow, .services = roles});
  EXPECT_EQ(service.error().message, "Credential should be scoped to correct service: 'iam'.");
}

TEST(Verify, NeedsTheHostCovered) {
  Received received(json_vector());
  std::string value(received.header("Authorization").value);
  value.replace(value.find("host;"), 5, "");
  received.header("Authorization").value = value;
  const auto result = received.verified();
  EXPECT_EQ(result.error().message, "The header 'host' must be signed.");
}

TEST(ClaimOf, NamesTheMissingPiece) {
  constexpr std::string_view kCredential = "Credential=AKID/20150830/us-east-1/sqs/aws4_request";
  const std::string credential(kCredential);
  const struct {
    const char* name;
    std::string authorization;
    std::string date;
    std::string query;
    ErrorCode code;
  } cases[] = {
      {"nothing", "", "", "Action=ListQueues", ErrorCode::missing_authentication_token},
      {"other scheme", "Basic abc", "", "", ErrorCode::incomplete_signature},
      {"no credential",
       "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=0",
       "20150830T123600Z",
       "",
       ErrorCode::incomplete_signature},
      {"no signed headers",
       "AWS4-HMAC-SHA256 " + credential + ", Signature=0",
       "20150830T123600Z",
       "",
       ErrorCode::incomplete_signature},
      {"no signature",
       "AWS4-HMAC-SHA256 " + credential + ", SignedHeaders=host",
       "20150830T123600Z",
       "",
       ErrorCode::incomplete_signature},
      {"no date",
       "AWS4-HMAC-SHA256 " + credential + ", SignedHeaders=host, Signature=0",
       "",
       "",
       ErrorCode::incomplete_signature},
      {"no such day",
       "AWS4-HMAC-SHA256 " + credential + ", SignedHeaders=host, Signature=0",
       "20150230T123600Z",
       "",
       ErrorCode::incomplete_signature},
      {"no such hour",
       "AWS4-HMAC-SHA256 " + credential + ", SignedHeaders=host, Signature=0",
       "20150830T243600Z",
       "",
       ErrorCode::incomplete_signature},
      {"presigned, only the algorithm",
       "",
       "",
       "X-Amz-Algorithm=AWS4-HMAC-SHA256",
       ErrorCode::incomplete_signature},
      {"presigned, only a signature",
       "",
       "",
       "X-Amz-Signature=00",
       ErrorCode::incomplete_signature},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    Headers headers = {{"Host", "h"}};
    if (!test.authorization.empty()) headers.push_back({"Authorization", test.authorization});
    if (!test.date.empty()) headers.push_back({"X-Amz-Date", test.date});
    const auto claim =
        claim_of({.method = "GET", .path = "/", .query = test.query, .headers = headers});
    ASSERT_FALSE(claim);
    EXPECT_EQ(claim.error().code, test.code) << claim.error().message;
  }
}

// Presigned URLs made by botocore.
constexpr std::string_view kPresigned =
    "Action=ReceiveMessage&Version=2012-11-05&X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fsqs%2Faws4_request"
    "&X-Amz-Date=20150830T123600Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host"
    "&X-Amz-Signature=e4bdca6557d9d0d08eb8950b8fe541c97c2555297676686cfd85b08301924866";
constexpr std::string_view kPresignedToken =
    "Action=ReceiveMessage&Version=2012-11-05&X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fsqs%2Faws4_request"
    "&X-Amz-Date=20150830T123600Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host"
    "&X-Amz-Security-Token=tok%2Fen%3D%3D"
    "&X-Amz-Signature=0c3a1a700ff403f6f83554740293b4df7dbda128b4cb556bab1ee31fe2d8f069";

Result<void> verify_presigned(std::string_view query, Timestamp now) {
  const Headers headers = {{"Host", "localhost:9324"}};
  const RequestParts parts{
      .method = "GET", .path = "/000000000000/orders", .query = query, .headers = headers};
  const Claim claim = TRY(claim_of(parts));
  return verify(parts, claim, kKeys.secret_key, {.now = now});
}

TEST(VerifyPresigned, AcceptsUntilItExpires) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(verify_presigned(kPresigned, kNow));
  EXPECT_TRUE(verify_presigned(kPresignedToken, kNow));
  EXPECT_TRUE(verify_presigned(kPresigned, kNow + 300s));
  EXPECT_EQ(code_of(verify_presigned(kPresigned, kNow + 301s)),
            ErrorCode::signature_does_not_match);
  EXPECT_EQ(code_of(verify_presigned(kPresigned, kNow - 16min)),
            ErrorCode::signature_does_not_match);
}

// A presigned URL is valid from its date on: one dated in the future would be valid for more than a
// week, or even after its key was revoked.
TEST(VerifyPresigned, RefusesDatesAhead) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(verify_presigned(kPresigned, kNow - 5min));
  for (const Duration ahead : {Duration(5min + 1s), Duration(24h), Duration(365 * 24h)}) {
    const auto result = verify_presigned(kPresigned, kNow - ahead);
    ASSERT_EQ(code_of(result), ErrorCode::signature_does_not_match) << ahead.count();
    EXPECT_TRUE(result.error().message.starts_with("Signature not yet current"))
        << result.error().message;
  }
}

TEST(VerifyPresigned, RefusesChangedParameters) {
  const struct {
    std::string_view from;
    std::string_view to;
    ErrorCode code;
  } cases[] = {
      {"ReceiveMessage", "PurgeQueue", ErrorCode::signature_does_not_match},
      {"Expires=300", "Expires=301", ErrorCode::signature_does_not_match},
      {"Expires=300", "Expires=604801", ErrorCode::incomplete_signature},
      {"Expires=300", "Expires=0", ErrorCode::incomplete_signature},
      {"Signature=e", "Signature=f", ErrorCode::signature_does_not_match},
      {"SignedHeaders=host", "SignedHeaders=", ErrorCode::incomplete_signature},
      {"us-east-1", "eu-west-1", ErrorCode::signature_does_not_match},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.to);
    std::string query(kPresigned);
    query.replace(query.find(test.from), test.from.size(), test.to);
    EXPECT_EQ(code_of(verify_presigned(query, kNow)), test.code);
  }
}

TEST(VerifyPresigned, LeavesS3BodiesUnsigned) {
  const Headers headers = {{"Host", "localhost:9000"}};
  const RequestParts parts{
      .method = "GET",
      .path = "/bucket/a%20key//x",
      .query =
          "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1"
          "%2Fs3%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=60"
          "&X-Amz-SignedHeaders=host&X-Amz-Signature="
          "820d621ffd84d88612b41b0ac1380c3877a30b418736a2c4fbc402b6d5116b75",
      .headers = headers,
      .body = "anything"};
  const auto claim = claim_of(parts);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(verify(parts, *claim, kKeys.secret_key, {.now = kNow, .unsigned_payload = true}));
  EXPECT_EQ(code_of(verify(parts, *claim, kKeys.secret_key, {.now = kNow})),
            ErrorCode::signature_does_not_match);
}

// A request with a correct signature over `digest` instead of its body's digest.
class SignedOver {
 public:
  SignedOver(std::string_view service, std::string_view digest)
      : scope_{"AKIDEXAMPLE", "20150830", "us-east-1", service} {
    headers_ = {{"Host", "localhost:9324"},
                {"X-Amz-Content-Sha256", digest},
                {"X-Amz-Date", "20150830T123600Z"}};
    const std::string_view names[] = {"host", "x-amz-content-sha256", "x-amz-date"};
    constexpr std::string_view kList = "host;x-amz-content-sha256;x-amz-date";
    const std::string canonical = canonical_request(parts(),
                                                    {.signed_headers = names,
                                                     .signed_list = kList,
                                                     .payload_hash = digest,
                                                     .service = service});
    const std::string credential = fmt::format("20150830/us-east-1/{}/aws4_request", service);
    const std::string text = fmt::format(
        "AWS4-HMAC-SHA256\n20150830T123600Z\n{}\n{}", credential, sha256_hex(canonical));
    const Sha256 sum = signing_key(scope_, kKeys.secret_key).sum(text);
    authorization_ =
        fmt::format("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{}, SignedHeaders={}, Signature={}",
                    credential,
                    kList,
                    to_hex({reinterpret_cast<const char*>(sum.data()), sum.size()}));
    headers_.push_back({"Authorization", authorization_});
  }
  SignedOver(const SignedOver&) = delete;

  RequestParts parts() const {
    return {.method = "POST", .path = "/", .query = "", .headers = headers_, .body = "anything"};
  }

 private:
  Scope scope_;
  Headers headers_;
  std::string authorization_;
};

// The client chooses its scope: whether the body may be unsigned is decided by the API.
TEST(Verify, TakesUnsignedPayloadsOnlyWhereTheyAreExpected) {
  for (const char* digest : {"UNSIGNED-PAYLOAD",
                             "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                             "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}) {
    for (const char* service : {"s3", "sqs"}) {
      SCOPED_TRACE(fmt::format("{} for {}", digest, service));
      const SignedOver request(service, digest);
      const auto claim = claim_of(request.parts());
      ASSERT_TRUE(claim) << claim.error().message;
      const auto verified = [&](bool expected) {
        return verify(
            request.parts(), *claim, kKeys.secret_key, {.now = kNow, .unsigned_payload = expected});
      };
      EXPECT_EQ(verified(true).has_value(), std::string_view(service) == "s3");
      EXPECT_EQ(code_of(verified(false)), ErrorCode::signature_does_not_match);
    }
  }
}

}  // namespace
}  // namespace redrive::auth
