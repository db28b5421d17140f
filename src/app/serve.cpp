#include "app/serve.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstring>

#include "app/app.h"
#include "app/endpoint_url.h"
#include "app/keys.h"
#include "app/process.h"
#include "app/signals.h"

namespace redrive::app {
namespace {

// auto: text for a terminal, JSON for everything else.
LogFormat log_format(const Config& config) {
  const bool terminal = config.log_format == "auto" && isatty(STDERR_FILENO) == 1;
  return terminal || config.log_format == "text" ? LogFormat::text : LogFormat::json;
}

void report_config(const Config& config, const ListenAddress& listen) {
  if (!config.file.empty()) spdlog::info("reading settings from {}", config.file);
  warn_about_exposed_secrets(config);
  if (!listen.loopback && config.keys.empty())
    spdlog::warn("serving {} without checking credentials (--insecure)", config.listen);
}

}  // namespace

Result<void> serve(const Config& config) {
  bound_allocator_pauses();
  RETURN_IF_ERROR(check_config(config));
  EventLog log(log_format(config), config.log_level);
  const ListenAddress listen = TRY(parse_listen(config.listen));
  report_config(config, listen);
  const Undumpable undumpable;
  const Signals signals(config.tls() || !config.file.empty());  // Before the first thread.
  raise_file_limit();

  App app(config, log, TRY(open_all(config)));
  RETURN_IF_ERROR(app.start());
  print_greeting(config, listen, app.port());
  const int signal_number = signals.wait([&] { app.reload(); });
  spdlog::info("{}: draining", strsignal(signal_number));
  app.stop();
  spdlog::info("stopped");
  return {};
}

}  // namespace redrive::app
