#include "dead_letters/archive/s3_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/backoff.h"
#include "base/digest.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/xml.h"
#include "net/auth/sigv4.h"

namespace redrive::archive {
namespace {

struct S3Request {
  std::string method;
  std::string key;    // Empty: the bucket.
  std::string query;  // Encoded, without '?'.
  std::string_view body;
};

std::string md5_base64(std::string_view bytes) {
  const Md5 sum = md5(bytes);
  return base64_encode({reinterpret_cast<const char*>(sum.data()), sum.size()});
}

bool is_worth_another(const http::ClientResponse& response) {
  return response.status >= 500 || response.status == 429;
}

std::unexpected<Error> failure_of(const http::ClientResponse& response, const S3Request& request) {
  const auto root = parse_xml(response.body);
  const std::string code(root ? root->text_of("Code") : "");
  const std::string message(root ? root->text_of("Message") : "");
  const ErrorCode kind = response.status == 404   ? ErrorCode::resource_not_found
                         : response.status == 403 ? ErrorCode::access_denied
                                                  : ErrorCode::service_unavailable;
  return fail(kind,
              fmt::format("S3 answers {} {} to {} {}: {}",
                          response.status,
                          code,
                          request.method,
                          request.key,
                          message.empty() ? "no reason was given" : message));
}

class S3Target final : public ArchiveTarget {
 public:
  S3Target(S3Place place, S3World world)
      : place_(std::move(place)), world_(std::move(world)), ids_(world_.seed) {
    const std::size_t mark = place_.endpoint.find("://");
    scheme_ = place_.endpoint.substr(0, mark);
    const std::string rest = place_.endpoint.substr(std::min(mark + 3, place_.endpoint.size()));
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    host_ = rest.substr(0, slash);
    base_path_ = rest.substr(slash);
    while (base_path_.ends_with('/')) base_path_.pop_back();
    if (place_.addressing == Addressing::virtual_host) {
      host_ = place_.bucket + "." + host_;
    } else {
      base_path_ += "/" + percent_encode(place_.bucket, true);
    }
  }

  Result<void> put(const std::string& key, std::string_view document) override {
    const S3Request request{.method = "PUT", .key = key, .query = {}, .body = document};
    TRY(ask(request));
    return {};
  }

  Result<std::string> get(const std::string& key) override {
    return TRY(ask({.method = "GET", .key = key, .query = {}, .body = {}})).body;
  }

  Result<ArchivePage> list(const std::string& prefix, const std::string& next) override {
    std::string query = "list-type=2&prefix=" + percent_encode(prefix, false);
    if (!next.empty()) query = "continuation-token=" + percent_encode(next, false) + "&" + query;
    const auto response = TRY(ask({.method = "GET", .key = {}, .query = query, .body = {}}));
    const auto root = parse_xml(response.body);
    if (!root || root->name != "ListBucketResult") {
      return fail(ErrorCode::service_unavailable,
                  place_.endpoint + " does not seem to support S3: its list cannot be parsed");
    }
    ArchivePage page;
    for (const XmlElement& child : root->children) {
      if (child.name != "Contents") continue;
      page.entries.push_back({.key = std::string(child.text_of("Key")),
                              .size = parse_int<std::uint64_t>(child.text_of("Size")).value_or(0)});
    }
    if (root->text_of("IsTruncated") == "true") page.next = root->text_of("NextContinuationToken");
    return page;
  }

  Result<void> remove(const std::string& key) override {
    TRY(ask({.method = "DELETE", .key = key, .query = {}, .body = {}}));
    return {};
  }

 private:
  Result<http::ClientResponse> ask(const S3Request& request) {
    Backoff backoff(ids_, world_.sleep);
    while (true) {
      auto response = world_.send(compose(request));
      if (response && response->status / 100 == 2) return response;
      const bool again = !response || is_worth_another(*response);
      if (again && backoff.again()) continue;
      if (!response) return response;
      return failure_of(*response, request);
    }
  }

  // The signature includes the date, so each attempt is a new request.
  http::ClientRequest compose(const S3Request& request) const {
    std::string path = base_path_;
    if (!request.key.empty() || path.empty()) path += "/" + percent_encode(request.key, true);
    http::ClientRequest composed{
        .method = request.method,
        .url = fmt::format(
            "{}://{}{}{}{}", scheme_, host_, path, request.query.empty() ? "" : "?", request.query),
        .headers = {{"Host", host_}},
        .body = std::string(request.body),
        .ca_bundle = place_.ca_bundle,
        .verify_tls = place_.verify_tls};
    if (request.method == "PUT") {
      composed.headers.emplace_back("Content-Type", "application/json");
      composed.headers.emplace_back("Content-MD5", md5_base64(request.body));
    }
    if (place_.credentials) add_signature(composed, path, request.query);
    return composed;
  }

  void add_signature(http::ClientRequest& request, const std::string& path,
                     const std::string& query) const {
    std::vector<auth::HeaderField> headers;
    for (const auto& [name, value] : request.headers) headers.push_back({name, value});
    auto added = auth::sign({.method = request.method,
                             .path = path,
                             .query = query,
                             .headers = headers,
                             .body = request.body},
                            *place_.credentials,
                            {.region = place_.region, .service = "s3"},
                            world_.clock.wall());
    std::ranges::move(added, std::back_inserter(request.headers));
  }

  const S3Place place_;
  const S3World world_;
  SeededIds ids_;
  std::string scheme_;
  std::string host_;
  std::string base_path_;
};

}  // namespace

std::unique_ptr<ArchiveTarget> s3_target(S3Place place, S3World world) {
  return std::make_unique<S3Target>(std::move(place), std::move(world));
}

}  // namespace redrive::archive
