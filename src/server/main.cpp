// redrive: one binary, the server and its tools.

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/register.h"
#include "server/config.h"
#include "server/journal_tools.h"
#include "server/serve.h"

namespace {

using redrive::Result;
using redrive::server::Config;

int report(const Result<void>& result) {
  if (result) return 0;
  fmt::print(stderr, "redrive: {}\n", result.error().message);
  return result.error().code == redrive::ErrorCode::usage ? 2 : 1;
}

Result<void> run_serve(const CLI::App& command, const Config& given,
                       const std::string& config_path) {
  Config config;
  if (!config_path.empty()) CHECK(redrive::server::load_config(config_path, config));
  // What the command line says wins over the file.
  if (command.count("--listen") > 0) config.listen = given.listen;
  if (command.count("--data") > 0) config.data = given.data;
  if (command.count("--memory") > 0) config.memory = given.memory;
  if (command.count("--region") > 0) config.region = given.region;
  if (command.count("--account") > 0) config.account = given.account;
  if (command.count("--threads") > 0) config.threads = given.threads;
  if (command.count("--strict-timing") > 0) config.strict_timing = given.strict_timing;
  if (command.count("--insecure") > 0) config.insecure = given.insecure;
  if (command.count("--log-level") > 0) config.log_level = given.log_level;
  if (command.count("--tls-certificate") > 0) config.tls_certificate = given.tls_certificate;
  if (command.count("--tls-key") > 0) config.tls_key = given.tls_key;
  if (command.count("--allowed-hosts") > 0) config.allowed_hosts = given.allowed_hosts;
  spdlog::set_level(spdlog::level::from_str(config.log_level));
  return redrive::server::serve(config);
}

void add_serve(CLI::App& app, Config& given, std::string& config_path, int& exit_code) {
  CLI::App* serve = app.add_subcommand("serve", "Run a queue server");
  serve->add_option("--listen", given.listen, "Address and port to listen on")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  serve->add_option("--data", given.data, "Directory that holds the messages")
      ->type_name("DIR")
      ->capture_default_str();
  serve->add_flag("--memory", given.memory, "Keep nothing: messages are gone with the process");
  serve->add_option("--region", given.region, "Region of requests that name none")
      ->capture_default_str();
  serve->add_option("--account", given.account, "Account of requests that name none")
      ->capture_default_str();
  serve->add_option("--threads", given.threads, "Network threads (0: half the cores)")
      ->capture_default_str();
  serve->add_option("--config", config_path, "TOML file with any of these settings")
      ->type_name("FILE");
  serve->add_flag("--strict-timing",
                  given.strict_timing,
                  "Refuse to recreate a queue within 60 seconds of its deletion, as AWS does");
  serve->add_flag("--insecure",
                  given.insecure,
                  "Allow addresses beyond loopback although credentials are not checked");
  serve->add_option("--log-level", given.log_level, "trace, debug, info, warn, error")
      ->capture_default_str();
  serve
      ->add_option("--tls-certificate",
                   given.tls_certificate,
                   "Serve HTTPS with this certificate chain (PEM; SIGHUP reads it again)")
      ->type_name("FILE");
  serve->add_option("--tls-key", given.tls_key, "The certificate's private key (PEM)")
      ->type_name("FILE");
  serve
      ->add_option("--allowed-hosts",
                   given.allowed_hosts,
                   "Names besides localhost that clients may call this server by, such as "
                   "queue.example or *.example")
      ->type_name("NAME,...")
      ->delimiter(',');
  serve->callback([serve, &given, &config_path, &exit_code] {
    exit_code = report(run_serve(*serve, given, config_path));
  });
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("redrive"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");

  CLI::App app(
      "A durable message queue that speaks the Amazon SQS API and takes care of what fails.",
      "redrive");
  app.require_subcommand(1);
  app.set_version_flag("--version", REDRIVE_VERSION);
  int exit_code = 0;
  Config given;
  std::string config_path;
  add_serve(app, given, config_path, exit_code);
  redrive::server::add_journal_tools(app, exit_code);
  redrive::cli::register_commands(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return redrive::cli::report_parse_error(app, error, std::cout, std::cerr);
  }
  return exit_code;
}
