#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/client/failure.h"
#include "net/auth/credentials.h"

namespace redrive::cli {

// Where requests are sent and how they are signed. Valid by construction: see resolve_endpoint.
struct Endpoint {
  std::string url;   // As given, for display: http://127.0.0.1:9324
  std::string host;  // For the Host header, without the scheme's default port.
  std::string path;  // Starts with '/'.
  std::string region;
  std::optional<auth::Credentials> credentials;  // nullopt: unsigned requests.
  std::string ca_bundle;  // Trusted CAs for an https endpoint; empty: the system's.
  bool verify_tls = true;

  std::string request_url() const { return url_of(path); }
  std::string url_of(std::string_view other_path) const;
};

// Options of every command.
struct CommonOptions {
  auth::ClientOptions client;
  bool json = false;
  bool no_sign_request = false;
  std::optional<std::string> ca_bundle;
  bool no_verify_ssl = false;
};

inline constexpr std::string_view kDefaultEndpointUrl = "http://127.0.0.1:9324";
inline constexpr std::string_view kDefaultRegion = "us-east-1";

// Combines options, environment and files with the defaults. `queue` is the queue argument: if it
// is a URL and no endpoint is configured, its server is the endpoint. For a server on this machine
// the default keys are test/test; for others, missing keys are an error.
Answer<Endpoint> resolve_endpoint(const CommonOptions& options,
                                  const auth::Environment& environment, std::string_view queue);

}  // namespace redrive::cli
