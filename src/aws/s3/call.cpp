#include "aws/s3/call.h"

#include <fmt/format.h>

#include "aws/s3/checksum.h"
#include "base/digest.h"
#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "net/auth/aws_chunked.h"
#include "net/auth/sigv4.h"

namespace redrive::s3 {
namespace {

constexpr std::string_view kStreaming = "STREAMING-";
constexpr std::string_view kUnsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
constexpr std::string_view kUnsigned = "UNSIGNED-PAYLOAD";

HeaderPairs claims_of(const http::Request& request) {
  HeaderPairs headers;
  for (const auto& header : request.headers) {
    headers.emplace_back(to_lower(header.name), header.value);
  }
  return headers;
}

// Without keys the digest of the body was not checked with the signature.
Outcome<void> check_payload_digest(std::string_view named, std::string_view body) {
  if (named.empty() || named == kUnsigned || sha256_hex(body) == named) return {};
  return refuse(400,
                "XAmzContentSHA256Mismatch",
                "The provided 'x-amz-content-sha256' header does not match what was computed.");
}

// Chunk signatures are verified with the key of the request; without keys they are ignored.
Result<std::string> decode_chunks(const Call& call, std::size_t decoded_bytes, bool is_signed,
                                  auth::Trailers& trailers) {
  const http::Request& request = call.request;
  if (!is_signed || call.caller.key == nullptr) {
    return auth::decode_aws_chunked(request.body, decoded_bytes, std::nullopt, &trailers);
  }
  std::vector<auth::HeaderField> fields;
  for (const auto& header : request.headers) fields.push_back({header.name, header.value});
  const auth::Claim claim = TRY(auth::claim_of({.method = request.method,
                                                .path = request.path,
                                                .query = request.query,
                                                .headers = fields,
                                                .body = request.body}));
  return auth::decode_aws_chunked(
      request.body,
      decoded_bytes,
      auth::ChunkSigning{.claim = claim, .secret_key = call.caller.key->secret},
      &trailers);
}

}  // namespace

Parameters parse_parameters(std::string_view query) {
  Parameters parameters;
  for (const std::string_view field : split(query, '&')) {
    if (field.empty()) continue;
    const std::size_t equals = field.find('=');
    const auto value = equals == field.npos ? std::string_view() : field.substr(equals + 1);
    parameters.emplace_back(percent_decode(field.substr(0, equals), true),
                            percent_decode(value, true));
  }
  return parameters;
}

std::optional<std::string_view> Call::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Outcome<void> Call::authorize(const front::Operation& operation, const Address& where) const {
  const auto info = store.bucket(where.bucket);
  // The store checks whether the name is free.
  const bool theirs = info && operation.name != "s3:CreateBucket";
  const std::string_view owner = theirs ? info->owner : caller.account;
  const auto allowed =
      where.bucket.empty()
          ? front::authorize_role(caller, operation)
          : front::decide(
                caller, operation, front::bucket_resource(owner, where.bucket, where.key), {});
  if (!allowed) return std::unexpected(refusal_of(allowed.error()));
  return {};
}

Outcome<Upload> read_upload(const Call& call) {
  Upload upload{.raw = call.request.body, .decoded = {}, .checksums = {}};
  HeaderPairs claimed = claims_of(call.request);
  const std::string_view named = call.request.header("x-amz-content-sha256");
  if (named.starts_with(kStreaming)) {
    const auto bytes = parse_int<std::size_t>(call.request.header("x-amz-decoded-content-length"));
    if (!bytes) {
      return refuse(411, "MissingContentLength", "You must provide X-Amz-Decoded-Content-Length.");
    }
    auth::Trailers trailers;
    auto decoded = decode_chunks(call, *bytes, named != kUnsignedTrailer, trailers);
    if (!decoded) return std::unexpected(refusal_of(decoded.error()));
    upload.decoded = *std::move(decoded);
    claimed.insert(claimed.end(), trailers.begin(), trailers.end());
  } else {
    RETURN_IF_ERROR(check_payload_digest(named, upload.body()));
  }
  upload.checksums = TRY(check_digests(upload.body(), claimed));
  return upload;
}

}  // namespace redrive::s3
