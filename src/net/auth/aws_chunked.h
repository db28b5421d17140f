#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/auth/sigv4.h"

namespace redrive::auth {

// Verifies the chunks of a body whose digest is STREAMING-AWS4-HMAC-SHA256-PAYLOAD: each signature
// covers its chunk and the previous signature, starting with that of the request itself.
struct ChunkSigning {
  const Claim& claim;  // Of a verified request.
  std::string_view secret_key;
};

// Headers after the last chunk, with lower-case names and without the signature.
using Trailers = std::vector<std::pair<std::string, std::string>>;

// The contents of an `aws-chunked` body, which S3 clients use to sign a body chunk by chunk:
//
//   10000;chunk-signature=<64 hex>\r\n <65536 bytes> \r\n … 0;chunk-signature=<64 hex>\r\n
//   x-amz-checksum-crc32:sOO8/Q==\r\n x-amz-trailer-signature:<64 hex>\r\n \r\n
//
// If `signing` is given, signatures are required and verified; otherwise (the digest is
// STREAMING-UNSIGNED-PAYLOAD-TRAILER) there must be none. `decoded_bytes` is the request's
// X-Amz-Decoded-Content-Length; `trailers`, if given, receives the headers after the chunks.
// Errors: malformed_request, signature_does_not_match.
Result<std::string> decode_aws_chunked(std::string_view body, std::size_t decoded_bytes,
                                       const std::optional<ChunkSigning>& signing,
                                       Trailers* trailers = nullptr);

}  // namespace redrive::auth
