// Cost of verifying a signature: the target is at most 3 µs per request with a body of 1 KiB.

#include <benchmark/benchmark.h>

#include <vector>

#include "net/auth/authenticate.h"

namespace redrive::auth {
namespace {

// A SendMessage as sent by the JavaScript SDK: every header is signed.
class SignedRequest {
 public:
  explicit SignedRequest(std::size_t body_bytes) : body_(body_bytes, 'x') {
    fields_ = {{"host", "127.0.0.1:9324"},
               {"content-type", "application/x-amz-json-1.0"},
               {"x-amz-target", "AmazonSQS.SendMessage"},
               {"x-amzn-query-mode", "true"},
               {"x-amz-user-agent", "aws-sdk-js/3.600.0"},
               {"amz-sdk-invocation-id", "9a7f0c0e-5a43-4a35-b3a2-6d7a3b6a5b1f"},
               {"amz-sdk-request", "attempt=1; max=3"}};
    added_ = sign(parts(), kCredentials, {.region = "us-east-1", .service = "sqs"}, kNow);
    for (const auto& [name, value] : added_) fields_.push_back({name, value});
    fields_.push_back({"user-agent", "aws-sdk-js/3.600.0 ua/2.0 os/linux lang/js md/nodejs"});
    fields_.push_back({"content-length", "1100"});
    fields_.push_back({"connection", "keep-alive"});
  }
  RequestParts parts() const {
    return {.method = "POST", .path = "/", .query = "", .headers = fields_, .body = body_};
  }

  static constexpr Timestamp kNow{1'700'000'000'000};
  static inline const Credentials kCredentials{.access_key = "AKIDEXAMPLE",
                                               .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYKEY"};

 private:
  std::string body_;
  SignatureHeaders added_;
  std::vector<HeaderField> fields_;
};

void authenticate_request(benchmark::State& state) {
  const SignedRequest request(static_cast<std::size_t>(state.range(0)));
  const auto keys = KeyRing::make({{.id = SignedRequest::kCredentials.access_key,
                                    .secret = SignedRequest::kCredentials.secret_key,
                                    .role = Role::producer}});
  for (auto _ : state) {
    const auto key = authenticate(
        *keys, request.parts(), {.now = SignedRequest::kNow, .region = {}, .service = "sqs"});
    if (!key) state.SkipWithError(key.error().message.c_str());
    benchmark::DoNotOptimize(key);
  }
}
BENCHMARK(authenticate_request)->Arg(0)->Arg(1024);

}  // namespace
}  // namespace redrive::auth
