#include "aws/s3/address.h"

#include <algorithm>
#include <optional>

#include "base/account.h"
#include "base/pattern.h"
#include "base/text.h"
#include "net/auth/credential.h"

namespace redrive::s3 {
namespace {

bool has_parameter(std::string_view query, std::string_view name) {
  return std::ranges::any_of(split(query, '&'), [&](std::string_view field) {
    return field.substr(0, field.find('=')) == name;
  });
}

std::string_view first_segment(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

// An unsigned GET: pages of the server and queues come first.
bool reads_object(const http::Request& request) {
  const std::string_view segment = first_segment(request.path);
  return !segment.empty() && segment != "health" && segment != "ready" && !is_account(segment) &&
         !has_parameter(request.query, "Action");
}

bool looks_like_s3(const http::Request& request) {
  if (!request.header("x-amz-content-sha256").empty()) return true;
  if (has_parameter(request.query, "AWSAccessKeyId"))
    return !is_account(first_segment(request.path));
  if (request.method == "PUT" || request.method == "DELETE") return true;
  if (request.method == "GET" || request.method == "HEAD") return reads_object(request);
  return request.method == "POST" &&
         (has_parameter(request.query, "delete") || has_parameter(request.query, "uploads") ||
          has_parameter(request.query, "uploadId"));
}

std::string_view name_of_host(std::string_view host) {
  if (host.starts_with('[')) return {};
  return host.substr(0, host.find(':'));
}

// The part of the host before `.domain`.
std::optional<std::string> label_before(std::string_view host, std::string_view domain) {
  if (domain.starts_with("*.")) domain.remove_prefix(2);
  if (host.size() < domain.size() + 2) return std::nullopt;
  const std::size_t dot = host.size() - domain.size() - 1;
  if (host[dot] != '.' || !iequals(host.substr(dot + 1), domain)) return std::nullopt;
  return to_lower(host.substr(0, dot));
}

std::optional<std::string> bucket_of_host(std::string_view host, const HostNames& names) {
  if (iequals(host, "s3.localhost")) return std::nullopt;
  if (auto label = label_before(host, "s3.localhost")) return label;
  for (const std::string& domain : names.domains) {
    if (auto label = label_before(host, domain); label && names.is_bucket(*label)) return label;
  }
  for (std::size_t dot = host.find('.'); dot != host.npos; dot = host.find('.', dot + 1)) {
    std::string label = to_lower(host.substr(0, dot));
    if (names.is_bucket(label)) return label;
  }
  return label_before(host, "localhost");
}

}  // namespace

bool is_s3_request(const http::Request& request) {
  // Most requests are of this kind, and are for queues.
  if (request.method == "POST" && request.query.empty()) return false;
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  if (scope && !scope->service.empty()) return scope->service == "s3";
  const bool json = !request.header("x-amz-target").empty() ||
                    request.header("content-type").starts_with("application/x-amz-json-1.");
  return !json && looks_like_s3(request);
}

Address address_of(std::string_view host, std::string_view path, const HostNames& names) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (auto bucket = bucket_of_host(name_of_host(host), names)) {
    return {.bucket = *std::move(bucket), .key = percent_decode(path, false)};
  }
  const std::size_t slash = path.find('/');
  Address address{.bucket = percent_decode(path.substr(0, slash), false), .key = {}};
  if (slash != std::string_view::npos) {
    address.key = percent_decode(path.substr(slash + 1), false);
  }
  return address;
}

}  // namespace redrive::s3
