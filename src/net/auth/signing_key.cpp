#include "net/auth/signing_key.h"

#include <algorithm>
#include <string>
#include <vector>

namespace redrive::auth {
namespace {

// Clients choose dates, regions and services, so the cache is bounded; the least used entry is
// evicted.
constexpr std::size_t kRememberedMax = 64;

std::string_view view(const Sha256& sum) {
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

HmacSha256Key derive(const Scope& scope, std::string_view secret_key) {
  const Sha256 date = hmac_sha256(std::string("AWS4").append(secret_key), scope.date);
  const Sha256 region = hmac_sha256(view(date), scope.region);
  const Sha256 service = hmac_sha256(view(region), scope.service);
  return HmacSha256Key(view(hmac_sha256(view(service), "aws4_request")));
}

struct Remembered {
  std::string access_key;
  std::string date;
  std::string region;
  std::string service;
  std::string secret_key;
  HmacSha256Key key;

  bool is_for(const Scope& scope, std::string_view secret) const {
    return date == scope.date && access_key == scope.access_key && region == scope.region &&
           service == scope.service && secret_key == secret;
  }
};

}  // namespace

const HmacSha256Key& signing_key(const Scope& scope, std::string_view secret_key) {
  thread_local std::vector<Remembered> remembered;
  const auto found = std::ranges::find_if(
      remembered, [&](const Remembered& one) { return one.is_for(scope, secret_key); });
  if (found != remembered.end()) {
    // Moves frequently used keys to the front.
    if (found != remembered.begin()) std::iter_swap(found, found - 1);
    return (found != remembered.begin() ? found - 1 : found)->key;
  }
  if (remembered.size() >= kRememberedMax) remembered.pop_back();
  remembered.push_back({.access_key = std::string(scope.access_key),
                        .date = std::string(scope.date),
                        .region = std::string(scope.region),
                        .service = std::string(scope.service),
                        .secret_key = std::string(secret_key),
                        .key = derive(scope, secret_key)});
  return remembered.back().key;
}

}  // namespace redrive::auth
