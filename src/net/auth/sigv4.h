#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/auth/canonical_request.h"
#include "net/auth/credential.h"
#include "net/auth/credentials.h"

// AWS Signature Version 4, client and server side: `sign` for outgoing requests, `claim_of` and
// `verify` for incoming ones. Times are wall times.
namespace redrive::auth {

struct SigningTarget {
  std::string region;
  std::string service;
};

using SignatureHeaders = std::vector<std::pair<std::string, std::string>>;

// The headers that sign a request: X-Amz-Date, Authorization, X-Amz-Security-Token for a session,
// X-Amz-Content-Sha256 for S3. `request` must include Host; all of its headers are signed, except
// those that proxies may change.
SignatureHeaders sign(const RequestParts& request, const Credentials& credentials,
                      const SigningTarget& target, Timestamp now);

// What a request claims about its signature; unverified. The views point into the request's header
// or query, or into `decoded`.
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
  std::optional<Duration> expires;                   // Presigned form only.
  std::string_view session_token;                    // Empty if there is none.
  std::shared_ptr<const Decoded> decoded = nullptr;  // Decoded query values of the presigned form.
};

// Fails with missing_authentication_token if the request is unsigned, and with
// incomplete_signature, naming the missing part, if the claim is malformed.
Result<Claim> claim_of(const RequestParts& request);

struct Expectation {
  Timestamp now;
  Duration skew_max = std::chrono::minutes(5);  // As in AWS.
  std::string_view region = {};                 // Empty: any.
  // The accepted services; empty: any. Errors mention the first one.
  std::span<const std::string_view> services = {};
  // Whether the client may leave the body out of its signature (UNSIGNED-PAYLOAD, a presigned URL)
  // or sign it in chunks (STREAMING-...). Only S3 may set this: every other API reads commands from
  // the body. A scope of `s3` in the request is not enough, because the client chooses it.
  bool unsigned_payload = false;
};

// Whether the owner of `secret_key` signed this request, unmodified, for the current time. The
// caller has looked up the key by claim.scope.access_key, and itself fails with
// invalid_client_token_id if there is none or if it did not issue the session token.
//
// Fails with signature_does_not_match. Host and every X-Amz- header must be signed, or a signature
// could be reused for another action.
Result<void> verify(const RequestParts& request, const Claim& claim, std::string_view secret_key,
                    const Expectation& expectation);

}  // namespace redrive::auth
