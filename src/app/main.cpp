// redrive: one binary, the server and its tools.

#include <fmt/format.h>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/journal_tools.h"
#include "app/serve.h"
#include "cli/commands/register.h"

namespace {

namespace cli = redrive::cli;
using redrive::Result;
using redrive::app::Config;

int report(const Result<void>& result) {
  if (result) return 0;
  fmt::print(stderr, "redrive: {}\n", result.error().message);
  return result.error().code == redrive::ErrorCode::usage ? 2 : 1;
}

constexpr const char* kUsualFile = "redrive.toml";  // In the working directory, if it exists.

// The options of `serve`. Each is also a setting of the file; the command line overrides it.
class ServeOptions {
 public:
  ServeOptions(cli::Verb serve, int& exit_code) : serve_(serve) {
    setting("--listen", &Config::listen, "Address and port to listen on").value_name("ADDR:PORT");
    setting("--data", &Config::data, "Data directory").value_name("DIR");
    setting("--memory", &Config::memory, "Keep everything in memory");
    setting("--region", &Config::region, "Default region of requests");
    setting("--account", &Config::account, "Default account of requests");
    setting("--threads", &Config::threads, "Network threads (0: half the cores)");
    setting("--strict-timing",
            &Config::strict_timing,
            "Refuse to recreate a queue within 60 seconds of its deletion, as AWS does");
    setting("--virtual-clock",
            &Config::virtual_clock,
            "For tests: time moves only by `redrive clock advance`");
    setting("--virtual-clock-start",
            &Config::virtual_clock_start,
            "Initial time of the virtual clock, such as 2026-01-01T00:00:00Z (default: now)")
        .value_name("TIME");
    setting("--insecure", &Config::insecure, "Allow other addresses than loopback without keys");
    setting("--log-level", &Config::log_level, "trace, debug, info, warn, error");
    setting("--log-format",
            &Config::log_format,
            "text, json, or auto (text on a terminal, otherwise json)")
        .one_of({"auto", "text", "json"});
    setting("--sandbox",
            &Config::sandbox,
            "Bubblewrap for functions: auto (if it works), off, or required")
        .one_of({"auto", "off", "required"});
    setting("--tls-certificate",
            &Config::tls_certificate,
            "Serve HTTPS with this certificate chain (PEM; reloaded on SIGHUP)")
        .value_name("FILE");
    setting("--tls-key", &Config::tls_key, "Private key of the certificate (PEM)")
        .value_name("FILE");
    setting("--allowed-hosts",
            &Config::allowed_hosts,
            "Host names of this server besides localhost, such as queue.example or *.example")
        .value_name("NAME,...")
        .comma_separated();
    serve.option("--config", file_, "TOML file with settings (default: redrive.toml, if it exists)")
        .value_name("FILE");
    serve.runs([this, &exit_code] { exit_code = report(run()); });
  }

 private:
  template <class T>
  cli::Option setting(const std::string& name, T Config::*member, const std::string& help) {
    const cli::Option option = add(name, given_.*member, help);
    overlays_.push_back([this, option, member](Config& config) {
      if (option.given()) config.*member = given_.*member;
    });
    return option;
  }
  cli::Option add(const std::string& name, bool& place, const std::string& help) {
    return serve_.flag(name, place, help);
  }
  cli::Option add(const std::string& name, auto& place, const std::string& help) {
    return serve_.option(name, place, help).shows_default();
  }

  Result<void> run() const {
    Config config;
    config.file = file_.empty() && std::filesystem::exists(kUsualFile) ? kUsualFile : file_;
    RETURN_IF_ERROR(redrive::app::load_config(config));
    for (const auto& overlay : overlays_) overlay(config);
    return redrive::app::serve(config);
  }

  cli::Verb serve_;
  Config given_;
  std::string file_;
  std::vector<std::function<void(Config&)>> overlays_;
};

}  // namespace

int main(int argc, char** argv) {
  cli::Program program(
      "redrive",
      "A durable message queue with the Amazon SQS API and tools for dead letters.",
      REDRIVE_VERSION);
  int exit_code = 0;
  const ServeOptions serve(program.root().verb("serve", "Run a queue server"), exit_code);
  redrive::app::add_journal_tools(program.root(), exit_code);
  cli::register_commands(program.root(), exit_code);
  const int misuse = program.run({argv + 1, argv + argc}, std::cout, std::cerr);
  return misuse != 0 ? misuse : exit_code;
}
