#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/sigv4.h"

namespace redrive::auth {

// What proves the chunks of a body whose digest is STREAMING-AWS4-HMAC-SHA256-PAYLOAD: each is
// signed together with the signature before it, beginning with that of the request itself.
struct ChunkSigning {
  const Claim& claim;  // Of a request that was verified.
  std::string_view secret_key;
};

// What stood behind the last chunk, with names in lower case and without its signature.
using Trailers = std::vector<std::pair<std::string, std::string>>;

// The contents of an `aws-chunked` body, in which S3 clients send what they sign piece by piece:
//
//   10000;chunk-signature=<64 hex>\r\n <65536 bytes> \r\n … 0;chunk-signature=<64 hex>\r\n
//   x-amz-checksum-crc32:sOO8/Q==\r\n x-amz-trailer-signature:<64 hex>\r\n \r\n
//
// Signatures are checked when `signing` is given, and must then be there; otherwise (the digest is
// STREAMING-UNSIGNED-PAYLOAD-TRAILER) there are none. `decoded_bytes` is what the request says in
// X-Amz-Decoded-Content-Length; `trailers`, if given, gets what follows the chunks. Errors:
// malformed_request, signature_does_not_match.
Result<std::string> decode_aws_chunked(std::string_view body, std::size_t decoded_bytes,
                                       const std::optional<ChunkSigning>& signing,
                                       Trailers* trailers = nullptr);

}  // namespace redrive::auth
