#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Client side: credentials, region and endpoint, found where AWS's own tools look.
namespace redrive::auth {

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // Empty: long-lived keys.

  bool operator==(const Credentials&) const = default;
};

// The parts of the process environment that are read.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual std::optional<std::string> variable(std::string_view name) const = 0;
  // The whole file; nullopt if it cannot be read.
  virtual std::optional<std::string> file(const std::string& path) const = 0;
};

class SystemEnvironment final : public Environment {
 public:
  std::optional<std::string> variable(std::string_view name) const override;
  std::optional<std::string> file(const std::string& path) const override;
};

// Command-line options; they take precedence over everything else.
struct ClientOptions {
  std::optional<std::string> endpoint_url;
  std::optional<std::string> region;
  std::optional<std::string> profile;
};

// The settings found. Absent: not configured; the caller provides defaults.
struct ClientSettings {
  std::optional<std::string> endpoint_url;
  std::optional<std::string> region;
  std::optional<Credentials> credentials;

  bool operator==(const ClientSettings&) const = default;
};

// Searches, in this order:
// - keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (not if the command line
//   names a profile), the profile in the credentials file, the profile in the config file;
// - region: command line, AWS_REGION, AWS_DEFAULT_REGION, profile;
// - endpoint: command line, AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL, the profile's `services`
//   section, the profile's endpoint_url.
// Fails with `usage` for a named profile that does not exist and for half a pair of keys.
Result<ClientSettings> find_client_settings(const ClientOptions& options,
                                            const Environment& environment);

}  // namespace redrive::auth
