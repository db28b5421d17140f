#include "app/endpoint_url.h"

#include <fmt/format.h>

#include <cstdio>

namespace redrive::app {

std::string endpoint_url(const Config& config, const ListenAddress& listen, std::uint16_t port) {
  const bool v6 = listen.address.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}",
                     config.tls() ? "https" : "http",
                     v6 ? "[" + listen.address + "]" : listen.address,
                     port);
}

std::string local_endpoint_url(const Config& config, ListenAddress listen, std::uint16_t port) {
  if (listen.address == "0.0.0.0") listen.address = "127.0.0.1";
  if (listen.address == "::") listen.address = "::1";
  return endpoint_url(config, listen, port);
}

void print_greeting(const Config& config, const ListenAddress& listen, std::uint16_t port) {
  const std::string url = endpoint_url(config, listen, port);
  fmt::print("redrive: listening on {}\nredrive: console at {}/console/\n", url, url);
  fmt::print("redrive: {}\n",
             config.memory ? "messages are in memory and are lost when the server stops"
                           : "messages are in " + config.data);
  if (config.virtual_clock)
    fmt::print("redrive: the clock is virtual; advance it with: redrive clock advance SECONDS\n");
  if (port != 9324)
    fmt::print("redrive: for the commands below, run: export AWS_ENDPOINT_URL={}\n", url);
  fmt::print(
      "redrive: try it from another terminal:\n"
      "    redrive queue create orders --dlq orders-dlq --max-receives 3\n"
      "    redrive send orders '{{\"order\":1}}'\n"
      "    redrive receive orders\n");
  std::fflush(stdout);
}

}  // namespace redrive::app
