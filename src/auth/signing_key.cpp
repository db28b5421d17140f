#include "auth/signing_key.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

namespace redrive::auth {
namespace {

// Strangers choose the names, so the memory is bounded; a full one starts anew.
constexpr std::size_t kRememberedMax = 256;

std::string_view view(const Sha256& sum) {
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

Sha256 derive(const Scope& scope, std::string_view secret_key) {
  const Sha256 date = hmac_sha256(std::string("AWS4").append(secret_key), scope.date);
  const Sha256 region = hmac_sha256(view(date), scope.region);
  const Sha256 service = hmac_sha256(view(region), scope.service);
  return hmac_sha256(view(service), "aws4_request");
}

struct Remembered {
  std::string secret_key;
  Sha256 key;
};

}  // namespace

Sha256 signing_key(const Scope& scope, std::string_view secret_key) {
  thread_local std::unordered_map<std::string, Remembered> remembered;
  const std::string name =
      fmt::format("{}/{}/{}/{}", scope.access_key, scope.date, scope.region, scope.service);
  const auto found = remembered.find(name);
  if (found != remembered.end() && found->second.secret_key == secret_key) return found->second.key;
  if (remembered.size() >= kRememberedMax) remembered.clear();
  const Sha256 key = derive(scope, secret_key);
  remembered[name] = {.secret_key = std::string(secret_key), .key = key};
  return key;
}

}  // namespace redrive::auth
