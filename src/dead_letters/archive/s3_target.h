#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "dead_letters/archive/target.h"
#include "net/auth/credentials.h"
#include "net/http/client.h"

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
  std::optional<auth::Credentials> credentials;  // nullopt: unsigned requests.
  std::string ca_bundle;
  bool verify_tls = true;
};

// External dependencies of a target.
struct S3World {
  std::function<Result<http::ClientResponse>(const http::ClientRequest&)> send;
  std::function<void(Duration)> sleep;
  const Clock& clock;
  std::uint64_t seed;  // For the jitter between attempts.
};

// Documents as objects in a bucket. Requests are signed (SigV4), bodies are sent with their MD5,
// and network errors and server errors are retried with exponential backoff.
std::unique_ptr<ArchiveTarget> s3_target(S3Place place, S3World world);

}  // namespace redrive::archive
