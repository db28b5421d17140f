// Arbitrary requests for signature verification. The claim is parsed or refused, and no claim
// passes with a key that signed nothing. The same request, signed by us, passes; with another body
// it does not. The input is a request without a version:
//
//   METHOD path?query LF   Name: value LF ...   LF   body

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "net/auth/credential.h"
#include "net/auth/sigv4.h"

namespace {

using namespace redrive;
using namespace redrive::auth;

constexpr Timestamp kNow{1'440'938'160'000};

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

// net/http accepts only tokens as names.
bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::vector<HeaderField> take_headers(std::string_view& rest) {
  std::vector<HeaderField> headers;
  for (auto line = take_until(rest, '\n'); !line.empty(); line = take_until(rest, '\n')) {
    const std::string_view name = take_until(line, ':');
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (is_name(name)) headers.push_back({name, line});
  }
  return headers;
}

// Headers added by a signature, or that would take their place.
bool is_of_signature(const HeaderField& header) {
  constexpr std::array<std::string_view, 5> kNames = {
      "authorization", "date", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view name) { return iequals(header.name, name); });
}

void check_claim(const RequestParts& request) {
  (void)scope_of(header_of(request, "authorization"), request.query);
  const auto claim = claim_of(request);
  if (!claim) return;
  require(!verify(request, *claim, "no one has this key", {.now = claim->date}));
}

void check_signing(RequestParts request, const std::string& service) {
  const Credentials keys{.access_key = "AKIDEXAMPLE", .secret_key = "secret", .session_token = {}};
  std::vector<HeaderField> headers(request.headers.begin(), request.headers.end());
  std::erase_if(headers, is_of_signature);
  request.headers = headers;
  if (header_of(request, "host").empty()) {
    std::erase_if(headers, [](const HeaderField& field) { return iequals(field.name, "host"); });
    headers.push_back({"Host", "localhost"});
    request.headers = headers;
  }
  const SignatureHeaders added = sign(request, keys, {"us-east-1", service}, kNow);
  for (const auto& [name, value] : added) headers.push_back({name, value});
  request.headers = headers;

  const auto claim = claim_of(request);
  require(claim.has_value() && claim->scope.access_key == keys.access_key);
  require(verify(request, *claim, keys.secret_key, {.now = kNow}).has_value());
  const std::string other_body = std::string(request.body) + "x";
  request.body = other_body;
  require(!verify(request, *claim, keys.secret_key, {.now = kNow}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::string_view line = take_until(rest, '\n');
  RequestParts request;
  request.method = take_until(line, ' ');
  request.path = take_until(line, '?');
  request.query = line;
  const std::vector<HeaderField> headers = take_headers(rest);
  request.headers = headers;
  request.body = rest;
  check_claim(request);
  check_signing(request, size % 2 == 0 ? "sqs" : "s3");
  return 0;
}
