#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "auth/access_key.h"
#include "base/clock.h"
#include "http/message.h"

namespace redrive::api {

// Who sends a request: proven when the server has keys, as claimed when it has none.
struct Caller {
  std::string account;
  std::string region;
  std::string sender_id;                      // Whose messages these are; goes into SenderId.
  const auth::AccessKey* key = nullptr;       // None: the server is open to everybody.
  std::shared_ptr<const auth::KeyRing> keys;  // Keeps `key` alive.
  std::string_view peer = {};                 // The address of the request; points into it.
  bool secure = false;                        // The request came through TLS.
};

// On a server without keys functions sign with the number of their account. Who they are is in the
// session token, behind this.
inline constexpr std::string_view kSenderToken = "redrive-sender:";

// Stands in front of every API of the server: checks the signature and the rate of each request.
// Without keys it lets everybody in and takes what the request claims for granted.
//
// Signatures are dated by the client's clock, so this follows the real wall clock whatever clock
// the engine follows. From any thread.
class Gate {
 public:
  struct Defaults {
    std::string account = "000000000000";
    std::string region = "us-east-1";
  };
  Gate(Defaults defaults, const Clock& real_clock)
      : defaults_(std::move(defaults)), clock_(real_clock) {}

  // Requests that come from now on are measured by these keys.
  void use(auth::KeyRing keys);
  // Keys of the server's own, for what it runs: they take the place of those lent before, which are
  // refused from now on. Reading keys again does not touch them. Ids must be unique. Does not close
  // a server that has no keys.
  void lend(std::vector<auth::AccessKey> keys);
  Timestamp wall() const { return clock_.wall(); }
  bool open() const { return keys_.load() == nullptr; }
  // The server's own account: of keys that name no other, and of what is about the whole server.
  const std::string& account() const { return defaults_.account; }

  // Each API accepts signatures of its own scope only, so that a request signed for one API cannot
  // be replayed against another.
  enum class Api : std::uint8_t { sqs, s3, lambda, iam, sts, monitoring, management };
  // Proves the signature. It must cover the body; only S3 takes unsigned and chunked payloads.
  Result<Caller> admit(const http::Request& request, Api api) const;

 private:
  Caller claimed(const http::Request& request) const;
  std::shared_ptr<const auth::KeyRing> ring_for(const http::Request& request) const;

  const Defaults defaults_;
  const Clock& clock_;
  std::atomic<std::shared_ptr<const auth::KeyRing>> keys_;
  // Spares every request of an open server the lock in keys_. Never true before they are there.
  std::atomic<bool> has_keys_ = false;
  std::atomic<std::shared_ptr<const auth::KeyRing>> lent_;
};

}  // namespace redrive::api
