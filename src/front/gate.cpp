#include "front/gate.h"

#include <fmt/format.h>

#include <cassert>

#include "base/account.h"
#include "base/text.h"
#include "net/auth/authenticate.h"

namespace redrive::front {
namespace {

constexpr std::size_t kSenderBytesMax = 128;

// The same views with the names of the auth module.
std::span<const auth::HeaderField> fields_of(const http::Request& request) {
  thread_local std::vector<auth::HeaderField> fields;
  fields.clear();
  for (const http::Header& header : request.headers) fields.push_back({header.name, header.value});
  return fields;
}

// Headers of browsers and libraries that no API stores or shows.
bool is_passed_over(std::string_view header) {
  return iequals(header, "cookie") || iequals(header, "user-agent") || iequals(header, "referer");
}

// What a request says about itself may be stored or shown, so it must be UTF-8.
Result<void> check_text(const http::Request& request, const Gate::Api& api) {
  if (!request.ascii) {
    for (const http::Header& header : request.headers) {
      if (is_utf8(header.value) || is_passed_over(header.name)) continue;
      return fail(ErrorCode::malformed_request,
                  fmt::format("The header {} is not valid UTF-8.", header.name));
    }
  }
  const bool escaped = request.target.find('%') != std::string_view::npos;
  if (escaped && !api.any_query_text && !is_utf8(percent_decode(request.target, false))) {
    return fail(ErrorCode::malformed_request, "The request target is not valid UTF-8.");
  }
  return {};
}

std::string_view claimed_sender(const http::Request& request, std::string_view key) {
  const std::string_view token = request.header("x-amz-security-token");
  return token.starts_with(kSenderToken) ? token.substr(kSenderToken.size()) : key;
}

}  // namespace

void Gate::use(auth::KeyRing keys) {
  const bool open = keys.empty();
  if (open) has_keys_ = false;
  keys_.store(open ? nullptr : std::make_shared<const auth::KeyRing>(std::move(keys)));
  if (!open) has_keys_ = true;
}

void Gate::lend(std::vector<auth::AccessKey> keys) {
  auto ring = auth::KeyRing::make(std::move(keys));
  assert(ring);
  lent_.store(std::make_shared<const auth::KeyRing>(*std::move(ring)));
}

std::shared_ptr<const auth::KeyRing> Gate::ring_for(const http::Request& request) const {
  if (!has_keys_) return nullptr;
  auto keys = keys_.load();
  const auto lent = keys == nullptr ? nullptr : lent_.load();
  if (lent == nullptr) return keys;
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return scope && lent->find(scope->access_key) != nullptr ? lent : keys;
}

Caller Gate::claimed(const http::Request& request) const {
  // Keys and regions are ASCII. They become part of ARNs, so any other text is ignored.
  const auto scope =
      request.ascii ? auth::scope_of(request.header("authorization"), request.query) : std::nullopt;
  const bool named = scope && !scope->access_key.empty();
  const std::string_view key = named ? scope->access_key : "anonymous";
  const bool account = is_account(key);
  return {.account = account ? std::string(key) : defaults_.account,
          .region = scope && !scope->region.empty() ? std::string(scope->region) : defaults_.region,
          .sender_id = std::string(
              utf8_prefix(account ? claimed_sender(request, key) : key, kSenderBytesMax)),
          .peer = request.peer,
          .secure = request.secure};
}

const auth::AccessKey* Gate::key_of_session(std::string_view token,
                                            const auth::KeyRing& keys) const {
  if (token.empty()) return nullptr;
  const auto session = sessions_.find(token, keys, clock_.steady());
  return session ? keys.find(session->key_id) : nullptr;
}

Result<const auth::AccessKey*> Gate::prove(const http::Request& request, const Api& api,
                                           const auth::KeyRing& keys) const {
  if (const auto* const key = key_of_session(console_token(request), keys)) return key;
  const auth::RequestParts parts{.method = request.method,
                                 .path = request.path,
                                 .query = request.query,
                                 .headers = fields_of(request),
                                 .body = request.body};
  return auth::authenticate(
      keys,
      parts,
      {.now = clock_.wall(), .services = api.scopes, .unsigned_payload = api.unsigned_payload});
}

Result<Caller> Gate::admit(const http::Request& request, const Api& api) const {
  RETURN_IF_ERROR(check_text(request, api));
  Caller caller = claimed(request);
  caller.keys = ring_for(request);
  if (caller.keys == nullptr) return caller;
  caller.key = TRY(prove(request, api, *caller.keys));
  const bool limited = caller.key->requests_per_second > 0;
  if (limited && !caller.keys->admit(*caller.key, Duration(clock_.steady().ms()))) {
    return fail(ErrorCode::request_throttled,
                fmt::format("The key {} is limited to {} requests per second.",
                            caller.key->id,
                            caller.key->requests_per_second));
  }
  identify(caller);
  return caller;
}

void Gate::identify(Caller& caller) {
  caller.account = caller.key->account;
  const bool named = caller.key->sender.empty();
  caller.sender_id = utf8_prefix(named ? caller.key->name : caller.key->sender, kSenderBytesMax);
}

// --- Sessions of the web console ---

std::string_view console_token(const http::Request& request) {
  const std::string_view cookies = request.header("cookie");
  if (cookies.empty() || request.header("x-redrive-console") != "1") return {};
  if (!request.header("authorization").empty()) return {};
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin") return {};
  // The scheme is not compared: a proxy may end TLS.
  const std::string_view origin = request.header("origin");
  const std::size_t scheme = origin.find("://");
  if (!origin.empty() &&
      (scheme == origin.npos || !iequals(origin.substr(scheme + 3), request.host))) {
    return {};
  }
  return cookie_value(cookies, kSessionCookie);
}

Result<std::string> Gate::open_session(const Caller& caller) const {
  if (caller.key == nullptr) {
    return fail(ErrorCode::missing_authentication_token,
                "Signing in requires a request that is signed with an access key.");
  }
  return sessions_.open(*caller.key, clock_.steady());
}

Result<std::string> Gate::make_link(const Caller& caller) const {
  if (caller.key == nullptr) {
    return fail(ErrorCode::unsupported_operation,
                "The server has no access keys: the console needs no sign-in.");
  }
  return sessions_.make_link(*caller.key, clock_.steady());
}

Result<std::string> Gate::exchange_link(std::string_view link) const {
  const auto keys = keys_.load();
  const auto key = keys ? sessions_.take_link(link, *keys, clock_.steady()) : std::nullopt;
  if (!key) {
    return fail(ErrorCode::invalid_client_token_id,
                "The link has been used or has expired. Run `redrive console` again.");
  }
  return sessions_.open(*keys->find(*key), clock_.steady());
}

Result<Caller> Gate::caller_of_session(const http::Request& request, std::string_view token) const {
  Caller caller = claimed(request);
  caller.keys = keys_.load();
  caller.key = caller.keys ? key_of_session(token, *caller.keys) : nullptr;
  if (caller.key == nullptr) {
    return fail(ErrorCode::missing_authentication_token, "The session has ended. Sign in again.");
  }
  identify(caller);
  return caller;
}

std::optional<Duration> Gate::session_left(const http::Request& request) const {
  const auto keys = keys_.load();
  const std::string_view token = console_token(request);
  const auto session =
      keys && !token.empty() ? sessions_.find(token, *keys, clock_.steady()) : std::nullopt;
  return session ? std::optional(session->left) : std::nullopt;
}

void Gate::close_session(const http::Request& request) const {
  sessions_.close(console_token(request));
}

bool Gate::is_sign_in_blocked(std::string_view address) const {
  return sign_ins_.is_blocked(address, clock_.steady());
}

void Gate::sign_in_failed(std::string_view address) const {
  sign_ins_.failed(address, clock_.steady());
}

}  // namespace redrive::front
