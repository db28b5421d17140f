#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aws/s3/answer.h"

namespace redrive::s3 {

using HeaderPairs = std::vector<std::pair<std::string, std::string>>;

// Checks the digests that a client sent with a body: content-md5, x-amz-checksum-crc32, -crc32c,
// -crc64nvme, -sha1, -sha256, all in base64. Names are lower-case. Returns the x-amz-checksum-
// headers, which are stored with the object. Refuses with BadDigest.
Outcome<HeaderPairs> check_digests(std::string_view body, const HeaderPairs& claimed);

}  // namespace redrive::s3
