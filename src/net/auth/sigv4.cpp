#include "net/auth/sigv4.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>

#include "base/digest.h"
#include "base/pattern.h"
#include "base/sha256_pair.h"
#include "base/text.h"
#include "net/auth/signing_key.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
constexpr std::string_view kStreamingPrefix = "STREAMING-";
constexpr std::int64_t kExpiresSecondsMax = 604'800;

// Headers that libraries and proxies add or change in transit.
constexpr std::array<std::string_view, 7> kNotSigned = {"authorization",
                                                        "connection",
                                                        "content-length",
                                                        "expect",
                                                        "transfer-encoding",
                                                        "user-agent",
                                                        "x-amzn-trace-id"};

using HexDigest = std::array<char, 64>;

HexDigest hex_of(const Sha256& sum) {
  HexDigest out;
  write_hex(out.data(), sum.data(), sum.size());
  return out;
}

std::string_view view(const HexDigest& digest) {
  return {digest.data(), digest.size()};
}

std::string format_time(Timestamp time) {
  using namespace std::chrono;
  const sys_seconds at{seconds(time.seconds())};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()),
                     clock.hours().count(),
                     clock.minutes().count(),
                     clock.seconds().count());
}

// Accepts only the form `20150830T123600Z`.
std::optional<Timestamp> parse_time(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  bool digits = true;
  const auto number = [&](std::size_t at, std::size_t size) {
    unsigned value = 0;
    for (const char c : text.substr(at, size)) {
      digits &= c >= '0' && c <= '9';
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return value;
  };
  const auto date = year(static_cast<int>(number(0, 4))) / month(number(4, 2)) / day(number(6, 2));
  const unsigned hour = number(9, 2);
  const unsigned minute = number(11, 2);
  const unsigned second = number(13, 2);
  if (!digits || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto at = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return Timestamp(duration_cast<milliseconds>(at.time_since_epoch()).count());
}

HexDigest signature_of(const Sha256& canonical, std::string_view date_text, const Scope& scope,
                       std::string_view secret_key) {
  std::string to_sign;
  to_sign.reserve(256);
  to_sign.append(kAlgorithm).append("\n").append(date_text).append("\n");
  to_sign.append(scope.date).append("/").append(scope.region).append("/").append(scope.service);
  to_sign.append("/aws4_request\n").append(view(hex_of(canonical)));
  return hex_of(signing_key(scope, secret_key).sum(to_sign));
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::unexpected<Error> incomplete(std::string_view what) {
  return fail(ErrorCode::incomplete_signature, std::string(what));
}

std::unexpected<Error> mismatch(std::string message) {
  return fail(ErrorCode::signature_does_not_match, std::move(message));
}

// Each name once, lower case, sorted.
std::vector<std::string> names_to_sign(std::span<const HeaderField> headers) {
  std::vector<std::string> names;
  for (const HeaderField& header : headers) {
    std::string name = to_lower(header.name);
    if (std::ranges::find(kNotSigned, name) == kNotSigned.end()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The value of `name=` in an Authorization header; a null view when absent.
std::string_view parameter_of(std::string_view parameters, std::string_view name) {
  while (!parameters.empty()) {
    std::string_view part = parameters.substr(0, parameters.find(','));
    parameters.remove_prefix(std::min(part.size() + 1, parameters.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (!part.starts_with(name) || !part.substr(name.size()).starts_with('=')) continue;
    part.remove_prefix(name.size() + 1);
    return part.substr(0, part.find_last_not_of(' ') + 1);
  }
  return {};
}

// The raw value of a query parameter; a null view when absent.
std::string_view query_value(std::string_view query, std::string_view name) {
  for (const std::string_view field : split(query, '&')) {
    if (field.starts_with(name) && field.substr(name.size()).starts_with('=')) {
      return field.substr(name.size() + 1);
    }
  }
  return {};
}

Result<Claim> header_claim(const RequestParts& request, std::string_view authorization) {
  if (!authorization.starts_with(kAlgorithm)) {
    return incomplete("Authorization must use AWS4-HMAC-SHA256.");
  }
  const std::string_view parameters = authorization.substr(kAlgorithm.size());
  const auto scope = parse_scope(parameter_of(parameters, "Credential"));
  if (!scope) return incomplete("Authorization requires a valid 'Credential' parameter.");
  const auto signed_headers = parameter_of(parameters, "SignedHeaders");
  if (signed_headers.empty()) return incomplete("Authorization requires 'SignedHeaders'.");
  const auto signature = parameter_of(parameters, "Signature");
  if (signature.empty()) return incomplete("Authorization requires 'Signature'.");
  auto date_text = header_of(request, "x-amz-date");
  if (date_text.empty()) date_text = header_of(request, "date");
  const auto date = parse_time(date_text);
  if (!date) return incomplete("A signed request requires the header 'X-Amz-Date'.");
  return Claim{.scope = *scope,
               .signed_headers = signed_headers,
               .signature = signature,
               .date_text = date_text,
               .date = *date,
               .expires = std::nullopt,
               .session_token = header_of(request, "x-amz-security-token")};
}

Result<Claim> presigned_claim(std::string_view query) {
  const auto value = [&](std::string_view name) {
    return percent_decode(query_value(query, name), true);
  };
  if (value("X-Amz-Algorithm") != kAlgorithm) {
    return incomplete("X-Amz-Algorithm must be AWS4-HMAC-SHA256.");
  }
  const auto scope = parse_scope(query_value(query, "X-Amz-Credential"));
  if (!scope) return incomplete("A presigned request requires a valid 'X-Amz-Credential'.");
  const auto decoded = std::make_shared<const Claim::Decoded>(
      Claim::Decoded{.signed_headers = value("X-Amz-SignedHeaders"),
                     .signature = value("X-Amz-Signature"),
                     .date_text = value("X-Amz-Date"),
                     .session_token = value("X-Amz-Security-Token")});
  Claim claim{.scope = *scope,
              .signed_headers = decoded->signed_headers,
              .signature = decoded->signature,
              .date_text = decoded->date_text,
              .session_token = decoded->session_token,
              .decoded = decoded};
  if (claim.signed_headers.empty()) return incomplete("'X-Amz-SignedHeaders' is missing.");
  if (claim.signature.empty()) return incomplete("'X-Amz-Signature' is missing.");
  const auto date = parse_time(claim.date_text);
  if (!date) return incomplete("A presigned request requires a valid 'X-Amz-Date'.");
  const auto expires = parse_int<std::int64_t>(value("X-Amz-Expires"));
  if (!expires || *expires < 1 || *expires > kExpiresSecondsMax) {
    return incomplete("'X-Amz-Expires' must be between 1 and 604800 seconds.");
  }
  claim.date = *date;
  claim.expires = std::chrono::seconds(*expires);
  return claim;
}

Result<void> check_time(const Claim& claim, const Expectation& expectation) {
  const Timestamp last = claim.date + claim.expires.value_or(expectation.skew_max);
  if (expectation.now > last) {
    const Duration life = claim.expires.value_or(expectation.skew_max);
    return mismatch(fmt::format("Signature expired: {} is now earlier than {} ({} - {} min.)",
                                claim.date_text,
                                format_time(expectation.now - life),
                                format_time(expectation.now),
                                std::chrono::ceil<std::chrono::minutes>(life).count()));
  }
  if (claim.date > expectation.now + expectation.skew_max) {
    return mismatch(
        fmt::format("Signature not yet current: {} is still later than {} ({} + {} min.)",
                    claim.date_text,
                    format_time(expectation.now + expectation.skew_max),
                    format_time(expectation.now),
                    std::chrono::ceil<std::chrono::minutes>(expectation.skew_max).count()));
  }
  return {};
}

Result<void> check_scope(const Claim& claim, const Expectation& expectation) {
  if (!claim.date_text.starts_with(claim.scope.date) || claim.scope.date.size() != 8) {
    return mismatch("Date in Credential scope does not match the date of the request.");
  }
  if (!expectation.region.empty() && claim.scope.region != expectation.region) {
    return mismatch("Credential should be scoped to a valid region.");
  }
  const auto& services = expectation.services;
  if (!services.empty() && std::ranges::find(services, claim.scope.service) == services.end()) {
    return mismatch(
        fmt::format("Credential should be scoped to correct service: '{}'.", services.front()));
  }
  return {};
}

// For texts of equal length.
[[gnu::noinline]] bool is_lower_of(std::string_view lower, std::string_view text) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  return iequals(lower, text) && std::ranges::none_of(lower, is_upper);
}

Result<void> check_coverage(const RequestParts& request,
                            const std::vector<std::string_view>& signed_headers) {
  const auto is_signed = [&](std::string_view name) {
    return std::ranges::any_of(signed_headers, [&](std::string_view candidate) {
      return candidate.size() == name.size() && is_lower_of(candidate, name);
    });
  };
  if (!is_signed("host")) return mismatch("The header 'host' must be signed.");
  constexpr std::string_view kPrefix = "x-amz-";
  for (const HeaderField& header : request.headers) {
    if (!iequals(header.name.substr(0, kPrefix.size()), kPrefix)) continue;
    if (!is_signed(header.name)) {
      return mismatch(fmt::format("The header '{}' must be signed.", to_lower(header.name)));
    }
  }
  return {};
}

// The digests of a canonical request and of the body whose hash it ends with. Its start does not
// depend on the body, so the two are computed in parallel.
struct Digests {
  Sha256Begun canonical;
  HexDigest body;
};

// The payload hash that the signature covers. A hash given by the client must match the body,
// unless the expectation permits unsigned or chunked payloads. The result may point into `digests`.
Result<std::string_view> payload_hash(const RequestParts& request, const Claim& claim,
                                      const Expectation& expectation, std::string_view canonical,
                                      Digests& digests) {
  const bool optional = expectation.unsigned_payload && claim.scope.service == "s3";
  const std::string_view named = header_of(request, "x-amz-content-sha256");
  if (optional && named.empty() && claim.expires) return kUnsignedPayload;
  if (optional && (named == kUnsignedPayload || named.starts_with(kStreamingPrefix))) return named;
  Sha256Begun body;
  sha256_begin_both(canonical, digests.canonical, request.body, body);
  digests.body = hex_of(sha256_end(body, request.body));
  if (!named.empty() && named != view(digests.body)) {
    return mismatch("The header 'x-amz-content-sha256' is not the digest of the body.");
  }
  return view(digests.body);
}

struct Stamped {
  std::string date_text;
  std::string body_hash;
};

// The Authorization header for a request that already has all its other headers.
std::string authorization(const RequestParts& request, const Credentials& credentials,
                          const SigningTarget& target, const Stamped& stamped) {
  const std::vector<std::string> names = names_to_sign(request.headers);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string list = fmt::format("{}", fmt::join(names, ";"));
  const std::string canonical = canonical_request(request,
                                                  {.signed_headers = views,
                                                   .signed_list = list,
                                                   .payload_hash = stamped.body_hash,
                                                   .service = target.service});
  const Scope scope{.access_key = credentials.access_key,
                    .date = std::string_view(stamped.date_text).substr(0, 8),
                    .region = target.region,
                    .service = target.service};
  return fmt::format(
      "{} Credential={}/{}/{}/{}/aws4_request, SignedHeaders={}, Signature={}",
      kAlgorithm,
      scope.access_key,
      scope.date,
      scope.region,
      scope.service,
      list,
      view(signature_of(sha256(canonical), stamped.date_text, scope, credentials.secret_key)));
}

}  // namespace

SignatureHeaders sign(const RequestParts& request, const Credentials& credentials,
                      const SigningTarget& target, Timestamp now) {
  assert(!header_of(request, "host").empty());
  const Stamped stamped{.date_text = format_time(now), .body_hash = sha256_hex(request.body)};
  SignatureHeaders added = {{"X-Amz-Date", stamped.date_text}};
  if (!credentials.session_token.empty()) {
    added.emplace_back("X-Amz-Security-Token", credentials.session_token);
  }
  if (target.service == "s3") added.emplace_back("X-Amz-Content-Sha256", stamped.body_hash);

  std::vector<HeaderField> headers(request.headers.begin(), request.headers.end());
  for (const auto& [name, value] : added) headers.push_back({name, value});
  RequestParts complete = request;
  complete.headers = headers;
  std::string value = authorization(complete, credentials, target, stamped);
  added.emplace_back("Authorization", std::move(value));
  return added;
}

Result<Claim> claim_of(const RequestParts& request) {
  const std::string_view authorization = header_of(request, "authorization");
  if (!authorization.empty()) return header_claim(request, authorization);
  const bool presigned = query_value(request.query, "X-Amz-Algorithm").data() != nullptr ||
                         query_value(request.query, "X-Amz-Signature").data() != nullptr;
  if (presigned) return presigned_claim(request.query);
  return fail(ErrorCode::missing_authentication_token, "Request is missing Authentication Token");
}

Result<void> verify(const RequestParts& request, const Claim& claim, std::string_view secret_key,
                    const Expectation& expectation) {
  RETURN_IF_ERROR(check_scope(claim, expectation));
  RETURN_IF_ERROR(check_time(claim, expectation));
  const auto signed_headers = split(claim.signed_headers, ';');
  RETURN_IF_ERROR(check_coverage(request, signed_headers));
  std::string canonical = canonical_request(request,
                                            {.signed_headers = signed_headers,
                                             .signed_list = claim.signed_headers,
                                             .payload_hash = {},
                                             .service = claim.scope.service});
  Digests digests;
  canonical += TRY(payload_hash(request, claim, expectation, canonical, digests));
  const HexDigest expected = signature_of(
      sha256_end(digests.canonical, canonical), claim.date_text, claim.scope, secret_key);
  if (equal_in_constant_time(view(expected), claim.signature)) return {};
  return mismatch(
      "The request signature we calculated does not match the signature you provided. Check your "
      "AWS Secret Access Key and signing method. Consult the service documentation for details.");
}

}  // namespace redrive::auth
