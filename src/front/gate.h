#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "front/sessions.h"
#include "net/auth/access_key.h"
#include "net/http/message.h"

namespace redrive::front {

// The identity of a caller: authenticated if the server has keys, otherwise as claimed.
struct Caller {
  std::string account;
  std::string region;
  std::string sender_id;                      // The SenderId of messages.
  const auth::AccessKey* key = nullptr;       // None: the server has no keys.
  std::shared_ptr<const auth::KeyRing> keys;  // Keeps `key` alive.
  std::string_view peer = {};                 // The address of the request; points into it.
  bool secure = false;                        // The request came through TLS.
  // No valid credentials on a server with keys: nothing is allowed. Only routes that are served
  // without credentials see such a caller.
  bool anonymous = false;
};

// On a server without keys, functions sign with the number of their account, and their session
// token is this prefix and their identity.
inline constexpr std::string_view kSenderToken = "redrive-sender:";

// Authenticates the requests of every API: checks their signatures and rates. Without keys it
// accepts every request and the identity that it claims.
//
// Signatures contain the time of the client's clock, so this uses the real wall clock even if the
// engine uses a virtual one. Thread-safe.
class Gate {
 public:
  struct Defaults {
    std::string account = "000000000000";
    std::string region = "us-east-1";
  };
  Gate(Defaults defaults, const Clock& real_clock)
      : defaults_(std::move(defaults)), clock_(real_clock) {}

  // Applies to later requests.
  void use(auth::KeyRing keys);
  // Keys that the server creates for its functions. They replace those of the previous call, which
  // are refused from now on. use() does not affect them. Ids must be unique. A server without other
  // keys stays open.
  void lend(std::vector<auth::AccessKey> keys);
  Timestamp wall() const { return clock_.wall(); }
  bool open() const { return keys_.load() == nullptr; }
  // The default account: of keys without one, and of resources of the whole server.
  const std::string& account() const { return defaults_.account; }

  // Each API accepts signatures of its own scope only, so that a request signed for one API cannot
  // be replayed against another.
  struct Api {
    std::span<const std::string_view> scopes;
    bool unsigned_payload = false;  // The signature need not cover the body.
    // The query string may be anything: the decoder has an error of its own for message content.
    bool any_query_text = false;

    static const Api sqs;
    static const Api s3;
    static const Api lambda;
    static const Api iam;
    static const Api sts;
    static const Api monitoring;
    static const Api management;
  };
  // Verifies the signature. It must cover the body; only S3 takes unsigned and chunked payloads.
  // An unsigned request of the web console is authenticated by its session, on every API.
  Result<Caller> admit(const http::Request& request, const Api& api) const;

  // Signs a browser in. Fails with missing_authentication_token without the key of `caller`.
  Result<std::string> open_session(const Caller& caller) const;
  // A one-time link for the caller's key, and the session token that a link is exchanged for.
  Result<std::string> make_link(const Caller& caller) const;
  Result<std::string> exchange_link(std::string_view link) const;
  // The caller that a session stands for; `request` is where it comes from.
  Result<Caller> caller_of_session(const http::Request& request, std::string_view token) const;
  // How long the session of a request still lasts; nullopt if it has none.
  std::optional<Duration> session_left(const http::Request& request) const;
  void close_session(const http::Request& request) const;
  // Failed attempts to sign in, by address.
  bool is_sign_in_blocked(std::string_view address) const;
  void sign_in_failed(std::string_view address) const;

 private:
  Caller claimed(const http::Request& request) const;
  Result<const auth::AccessKey*> prove(const http::Request& request, const Api& api,
                                       const auth::KeyRing& keys) const;
  const auth::AccessKey* key_of_session(std::string_view token, const auth::KeyRing& keys) const;
  static void identify(Caller& caller);
  std::shared_ptr<const auth::KeyRing> ring_for(const http::Request& request) const;

  const Defaults defaults_;
  const Clock& clock_;
  std::atomic<std::shared_ptr<const auth::KeyRing>> keys_;
  // Saves every request of a server without keys the lock in keys_. Set after keys_.
  std::atomic<bool> has_keys_ = false;
  std::atomic<std::shared_ptr<const auth::KeyRing>> lent_;
  mutable Sessions sessions_;  // Thread-safe, as is sign_ins_.
  mutable SignInLimit sign_ins_;
};

// The token of a request that a page of the web console made; empty if it is no such request.
//
// Browsers send cookies with requests that other sites cause (CSRF), so the cookie counts only with
// a header that other sites cannot set, and not if the browser names another origin.
std::string_view console_token(const http::Request& request);

namespace detail {
inline constexpr std::string_view kSqsScope[] = {"sqs"};
inline constexpr std::string_view kS3Scope[] = {"s3"};
inline constexpr std::string_view kLambdaScope[] = {"lambda"};
inline constexpr std::string_view kIamScope[] = {"iam"};
inline constexpr std::string_view kStsScope[] = {"sts"};
inline constexpr std::string_view kMonitoringScope[] = {"monitoring"};
// The management API is no AWS service: clients sign for it as they do for queues or functions.
inline constexpr std::string_view kManagementScopes[] = {"sqs", "lambda", "redrive"};
}  // namespace detail

inline constexpr Gate::Api Gate::Api::sqs{.scopes = detail::kSqsScope, .any_query_text = true};
inline constexpr Gate::Api Gate::Api::s3{.scopes = detail::kS3Scope, .unsigned_payload = true};
inline constexpr Gate::Api Gate::Api::lambda{.scopes = detail::kLambdaScope};
inline constexpr Gate::Api Gate::Api::iam{.scopes = detail::kIamScope};
inline constexpr Gate::Api Gate::Api::sts{.scopes = detail::kStsScope};
inline constexpr Gate::Api Gate::Api::monitoring{.scopes = detail::kMonitoringScope};
inline constexpr Gate::Api Gate::Api::management{.scopes = detail::kManagementScopes};

}  // namespace redrive::front
