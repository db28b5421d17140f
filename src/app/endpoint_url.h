#pragma once

#include <cstdint>
#include <string>

#include "app/config.h"

namespace redrive::app {

// Where clients find the server, such as http://127.0.0.1:9324.
std::string endpoint_url(const Config& config, const ListenAddress& listen, std::uint16_t port);

// The same for a process on this machine: a server that listens on all addresses is on loopback.
std::string local_endpoint_url(const Config& config, ListenAddress listen, std::uint16_t port);

// Prints to standard output where the server is and how to try it.
void print_greeting(const Config& config, const ListenAddress& listen, std::uint16_t port);

}  // namespace redrive::app
