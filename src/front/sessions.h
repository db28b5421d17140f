#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/mutex.h"
#include "base/time.h"
#include "net/auth/access_key.h"

namespace redrive::front {

// Sign-in sessions of the web console, and the one-time links that start one.
//
// A token is 256 random bits, known to the browser alone: only its digest is kept here. A session
// belongs to the key that opened it, and ends with sign-out, after kSessionTime, when the key or
// its secret is replaced, or when the server stops. Times are steady. Thread-safe.
class Sessions {
 public:
  static constexpr Duration kSessionTime = std::chrono::hours(12);
  static constexpr Duration kLinkTime = std::chrono::seconds(60);
  static constexpr std::size_t kTokensMax = 10'000;

  // Returns the token. The session closest to its end is evicted when there are too many.
  std::string open(const auth::AccessKey& key, Timestamp now);
  // Returns a token that take_link() accepts once, within kLinkTime.
  std::string make_link(const auth::AccessKey& key, Timestamp now);

  struct Session {
    std::string key_id;
    Duration left;  // Until it ends.
  };
  // The session of a token, if its key still has the same secret in `keys`.
  std::optional<Session> find(std::string_view token, const auth::KeyRing& keys,
                              Timestamp now) const;
  // The key that a link was made for. The link is used up.
  std::optional<std::string> take_link(std::string_view token, const auth::KeyRing& keys,
                                       Timestamp now);
  void close(std::string_view token);

 private:
  struct Ticket {
    std::string key_id;
    Sha256 secret;  // Digest of the key's secret.
    Timestamp ends;
  };
  using Tickets = std::map<Sha256, Ticket>;  // By digest of the token.

  static std::string issue(Tickets& tickets, const auth::AccessKey& key, Timestamp ends,
                           Timestamp now);
  static bool is_valid(const Ticket& ticket, const auth::KeyRing& keys, Timestamp now);

  mutable Mutex mutex_;
  Tickets sessions_ GUARDED_BY(mutex_);
  Tickets links_ GUARDED_BY(mutex_);
};

// How often an address may fail to sign in: kTriesMax times a minute. Times are steady.
// Thread-safe.
class SignInLimit {
 public:
  static constexpr int kTriesMax = 5;
  static constexpr Duration kWindow = std::chrono::minutes(1);
  static constexpr std::size_t kAddressesMax = 10'000;

  bool is_blocked(std::string_view address, Timestamp now) const;
  void failed(std::string_view address, Timestamp now);

 private:
  struct Window {
    Timestamp began;
    int failures = 0;
  };
  mutable Mutex mutex_;
  std::map<std::string, Window, std::less<>> windows_ GUARDED_BY(mutex_);
};

// The value of a cookie in a Cookie header; empty if it has none of that name.
std::string_view cookie_value(std::string_view header, std::string_view name);

inline constexpr std::string_view kSessionCookie = "redrive-session";

}  // namespace redrive::front
