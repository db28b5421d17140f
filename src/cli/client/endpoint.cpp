#include "cli/client/endpoint.h"

#include <fmt/format.h>

#include "base/text.h"

namespace redrive::cli {
namespace {

struct UrlParts {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
};

std::optional<UrlParts> parse_url(std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) return std::nullopt;
  UrlParts parts{.scheme = url.substr(0, mark)};
  const std::string_view rest = url.substr(mark + 3);
  const std::size_t slash = rest.find('/');
  parts.authority = rest.substr(0, slash);
  parts.path = slash == std::string_view::npos ? "/" : rest.substr(slash);
  const bool known = parts.scheme == "http" || parts.scheme == "https";
  const bool plain = parts.authority.find_first_of("@?# ") == std::string_view::npos &&
                     parts.path.find_first_of("?# ") == std::string_view::npos;
  if (!known || !plain || parts.authority.empty()) return std::nullopt;
  return parts;
}

std::string_view without_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const bool in_brackets = authority.ends_with(']');
  return colon == std::string_view::npos || in_brackets ? authority : authority.substr(0, colon);
}

// Host with the port omitted if it is the scheme's default.
std::string_view host_header(const UrlParts& parts) {
  const std::string_view implied = parts.scheme == "http" ? ":80" : ":443";
  return parts.authority.ends_with(implied) ? without_port(parts.authority) : parts.authority;
}

bool is_loopback(std::string_view authority) {
  const std::string_view host = without_port(authority);
  return iequals(host, "localhost") || host.starts_with("127.") || host == "[::1]";
}

Answer<auth::ClientSettings> find_settings(const CommonOptions& options,
                                           const auth::Environment& environment) {
  auto settings = auth::find_client_settings(options.client, environment);
  if (!settings) return usage_failure(settings.error().message);
  return *std::move(settings);
}

std::string endpoint_url(const auth::ClientSettings& settings, std::string_view queue) {
  if (settings.endpoint_url) return *settings.endpoint_url;
  if (const auto parts = parse_url(queue)) {
    return fmt::format("{}://{}", parts->scheme, parts->authority);
  }
  return std::string(kDefaultEndpointUrl);
}

std::string ca_bundle(const CommonOptions& options, const auth::Environment& environment) {
  if (options.ca_bundle) return *options.ca_bundle;
  return environment.variable("AWS_CA_BUNDLE").value_or("");
}

}  // namespace

std::string Endpoint::url_of(std::string_view other_path) const {
  return fmt::format("{}://{}{}", url.substr(0, url.find("://")), host, other_path);
}

Answer<Endpoint> resolve_endpoint(const CommonOptions& options,
                                  const auth::Environment& environment, std::string_view queue) {
  const auth::ClientSettings settings = TRY(find_settings(options, environment));
  const std::string url = endpoint_url(settings, queue);
  const auto parts = parse_url(url);
  if (!parts) {
    return usage_failure(
        fmt::format("'{}' is not an endpoint such as {}", url, kDefaultEndpointUrl));
  }
  Endpoint endpoint{.url = url,
                    .host = std::string(host_header(*parts)),
                    .path = std::string(parts->path),
                    .region = settings.region.value_or(std::string(kDefaultRegion)),
                    .ca_bundle = ca_bundle(options, environment),
                    .verify_tls = !options.no_verify_ssl};
  if (options.no_sign_request) return endpoint;
  endpoint.credentials = settings.credentials;
  if (!endpoint.credentials && is_loopback(parts->authority)) {
    endpoint.credentials = auth::Credentials{"test", "test", ""};
  }
  if (endpoint.credentials) return endpoint;
  return usage_failure(
      "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, pass --profile, or send "
      "unsigned requests with --no-sign-request");
}

}  // namespace redrive::cli
