#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/credentials.h"
#include "cli/failure.h"

namespace redrive::cli {

// Where requests go and who signs them. Valid by construction: see resolve_endpoint.
struct Endpoint {
  std::string url;   // As given, for people: http://127.0.0.1:9324
  std::string host;  // As the Host header has it, without a port that the scheme implies.
  std::string path;  // Begins with '/'.
  std::string region;
  std::optional<auth::Credentials> credentials;  // None: requests go unsigned.
  std::string ca_bundle;  // Who may vouch for an https endpoint; empty: whom the system trusts.
  bool verify_tls = true;

  std::string request_url() const { return url_of(path); }
  std::string url_of(std::string_view other_path) const;
};

// The options that every verb has.
struct CommonOptions {
  auth::ClientOptions client;
  bool json = false;
  bool no_sign_request = false;
  std::optional<std::string> ca_bundle;
  bool no_verify_ssl = false;
};

inline constexpr std::string_view kDefaultEndpointUrl = "http://127.0.0.1:9324";
inline constexpr std::string_view kDefaultRegion = "us-east-1";

// Joins options, environment and files, and fills in the defaults. `queue` is what the command line
// calls the queue: when it is a URL and nothing names an endpoint, it names the endpoint too. A
// server on this machine gets the keys test/test when none are configured; elsewhere that is an
// error.
Answer<Endpoint> resolve_endpoint(const CommonOptions& options,
                                  const auth::Environment& environment, std::string_view queue);

}  // namespace redrive::cli
