#include "cli/client/archive_place.h"

#include <fmt/format.h>

#include "dead_letters/archive/s3_target.h"

namespace redrive::cli {
namespace {

bool is_aws(std::string_view host) {
  return host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
}

std::string s3_endpoint(const ArchivePlace& place, const Session& session) {
  if (place.endpoint_url) return *place.endpoint_url;
  if (auto named = session.world.environment.variable("AWS_ENDPOINT_URL_S3")) return *named;
  if (!is_aws(session.endpoint.host)) return session.endpoint.url_of("");
  return fmt::format("https://s3.{}.amazonaws.com", session.endpoint.region);
}

archive::Addressing addressing_of(const ArchivePlace& place, std::string_view endpoint) {
  if (place.addressing) {
    return *place.addressing == "path" ? archive::Addressing::path
                                       : archive::Addressing::virtual_host;
  }
  return is_aws(endpoint) ? archive::Addressing::virtual_host : archive::Addressing::path;
}

}  // namespace

void add_archive_place_options(Verb verb, ArchivePlace& place) {
  verb.option("--archive-endpoint-url",
              place.endpoint_url,
              "S3 endpoint (default: AWS_ENDPOINT_URL_S3, or the queue endpoint)")
      .group("Connection");
  verb.option("--archive-addressing",
              place.addressing,
              "path or virtual-host (default: virtual-host on AWS, otherwise path)")
      .one_of({"path", "virtual-host"})
      .group("Connection");
}

Answer<OpenArchive> open_archive(const ArchivePlace& place, Session& session) {
  const auto location = archive::parse_archive_location(place.location);
  if (!location) return usage_failure(location.error().message);
  OpenArchive open;
  if (location->kind == archive::ArchiveLocation::Kind::directory) {
    open.target = archive::directory_target(location->directory);
    open.location = "file://" + location->directory;
    while (open.location.ends_with('/')) open.location.pop_back();
    return open;
  }
  World& world = session.world;
  const std::string endpoint = s3_endpoint(place, session);
  const std::shared_ptr<Transport> transport = world.connect();
  open.prefix = location->prefix;
  open.location = "s3://" + location->bucket;
  open.target = archive::s3_target(
      {.endpoint = endpoint,
       .bucket = location->bucket,
       .region = session.endpoint.region,
       .addressing = addressing_of(place, endpoint),
       .credentials = session.endpoint.credentials,
       .ca_bundle = session.endpoint.ca_bundle,
       .verify_tls = session.endpoint.verify_tls},
      {.send = [transport](const http::ClientRequest& request) { return transport->send(request); },
       .sleep = world.sleep,
       .clock = world.clock,
       .seed = world.ids.bits()});
  return open;
}

Failure failure_of_archive(const Error& error) {
  const bool network = error.code == ErrorCode::network;
  return {.kind = network ? Failure::Kind::network : Failure::Kind::refused,
          .code = "archive",
          .message = error.message};
}

}  // namespace redrive::cli
