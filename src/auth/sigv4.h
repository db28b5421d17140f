#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/canonical_request.h"
#include "auth/credential.h"
#include "auth/credentials.h"
#include "base/result.h"
#include "base/time.h"

// AWS Signature Version 4, both sides of it: `sign` for requests that we send, `claim_of` and
// `verify` for those that we receive. Times are wall times.
namespace redrive::auth {

struct SigningTarget {
  std::string region;
  std::string service;
};

using SignatureHeaders = std::vector<std::pair<std::string, std::string>>;

// The headers to add to a request so that it is signed: X-Amz-Date, Authorization, with a session
// X-Amz-Security-Token, for S3 X-Amz-Content-Sha256. `request` must name its Host; what it carries
// is covered, save for headers that proxies may touch.
SignatureHeaders sign(const RequestParts& request, const Credentials& credentials,
                      const SigningTarget& target, Timestamp now);

// What a request says about its own signature. Nothing in it is proven. The views point into the
// request's header or query, or into what of the query was decoded.
struct Claim {
  struct Decoded {
    std::string signed_headers;
    std::string signature;
    std::string date_text;
    std::string session_token;
  };
  Scope scope;
  std::string_view signed_headers;  // `a;b;c`
  std::string_view signature;
  std::string_view date_text;
  Timestamp date;
  std::optional<Duration> expires;                   // Set for the presigned form only.
  std::string_view session_token;                    // Empty when there is none.
  std::shared_ptr<const Decoded> decoded = nullptr;  // Of the presigned form.
};

// Fails with missing_authentication_token when the request claims nothing, and with
// incomplete_signature, naming the missing piece, when it claims badly.
Result<Claim> claim_of(const RequestParts& request);

struct Expectation {
  Timestamp now;
  Duration skew_max = std::chrono::minutes(5);  // As AWS has it.
  std::string_view region = {};                 // Empty: any.
  // The scopes that are accepted; none: any. The first one is named to clients.
  std::span<const std::string_view> services = {};
  // Whether the client may leave the body out of its signature (UNSIGNED-PAYLOAD, a presigned URL)
  // or sign it in chunks (STREAMING-...). Only S3 may set this: every other API reads commands from
  // the body. A scope of `s3` in the request is not enough, because the client chooses it.
  bool unsigned_payload = false;
};

// Whether the owner of `secret_key` signed this request, unchanged, for now. The caller has found
// the key by claim.scope.access_key, and answers invalid_client_token_id itself when there is none
// or when the session token is not one it gave out.
//
// Refuses with signature_does_not_match. Host and every X-Amz- header must be covered, or a
// signature could be carried over to another action.
Result<void> verify(const RequestParts& request, const Claim& claim, std::string_view secret_key,
                    const Expectation& expectation);

}  // namespace redrive::auth
