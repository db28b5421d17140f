#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/limits.h"
#include "http/tls.h"

namespace redrive::server {

// What `redrive serve` was told. The command line wins over the file, the file over these defaults.
struct Config {
  std::string listen = "127.0.0.1:9324";
  std::string data = "./data";
  bool memory = false;
  std::string region = "us-east-1";
  std::string account = "000000000000";
  unsigned threads = 0;  // 0: half the cores, at least one.
  bool strict_timing = false;
  bool insecure = false;  // Serve strangers without credentials.
  std::string log_level = "info";
  std::chrono::seconds drain_time{10};
  std::string tls_certificate;  // With tls_key: serve HTTPS. SIGHUP reads both again.
  std::string tls_key;
  std::vector<std::string> allowed_hosts;  // Names that web browsers may know this server by.
  http::Limits limits;                     // Of the file alone: the table [limits].

  std::optional<http::TlsFiles> tls() const;
};

struct ListenAddress {
  std::string address;
  std::uint16_t port;
  bool loopback;
};

// Overlays the settings of a TOML file (keys as the options are named, without dashes in front, and
// the table [limits]). An unknown key is an error.
Result<void> load_config(const std::string& path, Config& config);
Result<ListenAddress> parse_listen(const std::string& text);
Result<void> check_config(const Config& config);

}  // namespace redrive::server
