#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "archive/target.h"
#include "auth/credentials.h"
#include "base/clock.h"
#include "http/client.h"

namespace redrive::archive {

enum class Addressing : std::uint8_t {
  path,         // https://host/bucket/key
  virtual_host  // https://bucket.host/key
};

struct S3Place {
  std::string endpoint;  // https://s3.eu-central-1.amazonaws.com
  std::string bucket;
  std::string region;
  Addressing addressing = Addressing::path;
  std::optional<auth::Credentials> credentials;  // None: requests go unsigned.
  std::string ca_bundle;
  bool verify_tls = true;
};

// What a target touches outside itself.
struct S3World {
  std::function<Result<http::ClientResponse>(const http::ClientRequest&)> send;
  std::function<void(Duration)> sleep;
  const Clock& clock;
  std::uint64_t seed;  // For the chance in the pauses between attempts.
};

// Documents as objects of a bucket. Requests are signed (SigV4), bodies travel with their MD5, and
// what failed for want of a network or of the server's time is tried again with growing pauses.
std::unique_ptr<ArchiveTarget> s3_target(S3Place place, S3World world);

}  // namespace redrive::archive
