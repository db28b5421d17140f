#include "net/auth/credentials.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file_system.h"
#include "net/auth/profile.h"

namespace redrive::auth {
namespace {

using Text = std::optional<std::string>;

// An empty variable counts as unset: shells can unset a variable for one command that way.
Text variable(const Environment& environment, std::string_view name) {
  Text value = environment.variable(name);
  return value && !value->empty() ? value : std::nullopt;
}

Sections read_profiles(const Environment& environment, std::string_view variable_name,
                       std::string_view file_name) {
  std::string path =
      variable(environment, variable_name).value_or(fmt::format("~/.aws/{}", file_name));
  if (path.starts_with("~/")) {
    path.replace(0, 1, variable(environment, "HOME").value_or(""));
  }
  return parse_profiles(environment.file(path).value_or(""));
}

// The selected profile, merged from both files, and the endpoint of its `services` section.
struct Profile {
  Section credentials;
  Section config;
  Section services;
  bool exists = false;
};

Profile find_profile(const Environment& environment, const std::string& name) {
  Sections credentials = read_profiles(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  Sections config = read_profiles(environment, "AWS_CONFIG_FILE", "config");
  const bool plain = name == "default" && !config.contains("profile default");
  const std::string config_name = plain ? name : "profile " + name;
  Profile profile;
  profile.exists = credentials.contains(name) || config.contains(config_name);
  profile.credentials = credentials[name];
  profile.config = config[config_name];
  if (const auto services = profile.config.find("services"); services != profile.config.end()) {
    profile.services = config["services " + services->second];
  }
  return profile;
}

Text lookup(const Section& section, const std::string& name) {
  const auto found = section.find(name);
  return found == section.end() || found->second.empty() ? Text() : Text(found->second);
}

Text first_of(std::initializer_list<Text> candidates) {
  for (const Text& candidate : candidates) {
    if (candidate) return candidate;
  }
  return std::nullopt;
}

// nullopt if neither key is set; only one of the two is an error.
Result<std::optional<Credentials>> pair_up(const Text& access_key, const Text& secret_key,
                                           const Text& token, std::string_view where) {
  if (!access_key && !secret_key) return std::nullopt;
  if (!access_key || !secret_key) {
    return fail(ErrorCode::usage,
                fmt::format("{} has {} but no {}.",
                            where,
                            access_key ? "an access key id" : "a secret access key",
                            access_key ? "secret access key" : "access key id"));
  }
  return Credentials{*access_key, *secret_key, token.value_or("")};
}

Result<std::optional<Credentials>> from_variables(const Environment& environment) {
  return pair_up(variable(environment, "AWS_ACCESS_KEY_ID"),
                 variable(environment, "AWS_SECRET_ACCESS_KEY"),
                 variable(environment, "AWS_SESSION_TOKEN"),
                 "The environment");
}

Result<std::optional<Credentials>> from_section(const Section& section, std::string_view where) {
  return pair_up(lookup(section, "aws_access_key_id"),
                 lookup(section, "aws_secret_access_key"),
                 lookup(section, "aws_session_token"),
                 where);
}

Result<std::optional<Credentials>> find_credentials(const ClientOptions& options,
                                                    const Environment& environment,
                                                    const Profile& profile) {
  if (!options.profile) {
    if (auto found = TRY(from_variables(environment))) return found;
  }
  if (auto found = TRY(from_section(profile.credentials, "The profile in the credentials file"))) {
    return found;
  }
  return from_section(profile.config, "The profile in the config file");
}

}  // namespace

std::optional<std::string> SystemEnvironment::variable(std::string_view name) const {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> SystemEnvironment::file(const std::string& path) const {
  return read_file(path);
}

Result<ClientSettings> find_client_settings(const ClientOptions& options,
                                            const Environment& environment) {
  const Text named = first_of({options.profile, variable(environment, "AWS_PROFILE")});
  const Profile profile = find_profile(environment, named.value_or("default"));
  if (named && !profile.exists) {
    return fail(ErrorCode::usage, fmt::format("The profile '{}' does not exist.", *named));
  }
  ClientSettings settings;
  settings.endpoint_url = first_of({options.endpoint_url,
                                    variable(environment, "AWS_ENDPOINT_URL_SQS"),
                                    variable(environment, "AWS_ENDPOINT_URL"),
                                    lookup(profile.services, "sqs.endpoint_url"),
                                    lookup(profile.config, "endpoint_url")});
  settings.region = first_of({options.region,
                              variable(environment, "AWS_REGION"),
                              variable(environment, "AWS_DEFAULT_REGION"),
                              lookup(profile.config, "region"),
                              lookup(profile.credentials, "region")});
  settings.credentials = TRY(find_credentials(options, environment, profile));
  return settings;
}

}  // namespace redrive::auth
