#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dead_letters/dead_letters.h"
#include "dead_letters/triage/secrets.h"
#include "functions/runtime/invoker.h"
#include "net/auth/access_key.h"
#include "net/http/limits.h"
#include "net/http/outgoing_policy.h"
#include "net/http/tls.h"
#include "observe/alarms/dead_letters.h"

namespace redrive::app {

// The configuration of `redrive serve`. The command line overrides the file, the file these
// defaults.
struct Config {
  std::string file;  // The configuration file; empty: none.
  std::string listen = "127.0.0.1:9324";
  std::string data = "./data";
  bool memory = false;
  std::string region = "us-east-1";
  std::string account = "000000000000";
  unsigned threads = 0;  // 0: half the cores, at least one.
  bool strict_timing = false;
  bool virtual_clock = false;       // Time passes only when it is moved.
  std::string clock_jump = "wait";  // The table [clock]: wait, accept, ignore.
  std::chrono::seconds clock_jump_wait{3600};
  std::string virtual_clock_start;  // 2026-01-01T00:00:00Z; empty: now.
  bool insecure = false;            // Serve other machines without credentials.
  std::string log_level = "info";
  std::string sandbox = "auto";     // Bubblewrap for functions: auto, off, required.
  std::string log_format = "auto";  // auto, text, json; auto: text for a terminal.
  std::chrono::seconds drain_time{10};
  std::size_t waiting_receives_max = 20'000;
  std::uint32_t requests_per_second_max = 0;  // Default for keys; 0: no limit.
  std::string audit_log;                      // Empty: audit.ndjson in the data directory.
  std::uint64_t audit_file_bytes_max = std::uint64_t{64} << 20;  // The table [audit].
  std::uint32_t audit_files_max = 8;                             // Including the current one.
  std::vector<auth::AccessKey> keys;               // None: every local client may do everything.
  std::vector<std::string> secret_files;           // Where the secrets of the keys were read.
  std::vector<dead_letters::PolicyRule> policies;  // The tables [[dead-letters]].
  dead_letters::SettledLimits settled;             // The table [settled].
  std::string tls_certificate;  // With tls_key: serve HTTPS. SIGHUP reads both again.
  std::string tls_key;
  std::vector<std::string> allowed_hosts;  // Host names that web browsers may use.
  std::uint64_t object_bytes_max = std::uint64_t{64} << 20;  // Of an object in an archive bucket.
  std::string metrics_token;               // Allows reading /metrics; empty: no token.
  std::size_t metrics_queues_max = 1'000;  // With lines of their own in /metrics.
  std::size_t history_queues_max = 2'000;  // With a metrics history.
  std::string traces_endpoint;             // Of an OpenTelemetry collector; empty: no traces.
  unsigned function_processes_max = runtime::kProcessesDefault;  // Of all functions together.
  std::vector<std::string> alarm_targets;   // Targets for notifications about dead letters.
  bool alarm_private_webhooks = false;      // Webhooks of clients may point into private networks.
  std::string function_key_scope = "role";  // What the keys of functions permit: role, account.
  std::vector<std::string> outgoing_allow;  // See http::OutgoingPolicy::parse.
  std::string alarm_ca_file;                // CA certificates for webhooks and mail servers.
  alarms::DeadLetterRules dead_letter_alarms;
  // Alarms may name targets that this server cannot notify, such as topics.
  bool alarm_unreachable_targets = false;
  std::string console_url;  // URL of the console for links; may be empty.
  http::Limits limits;      // Of the file alone: the table [limits].
  std::shared_ptr<const triage::MaskRules> mask_rules;  // The table [masking]; null without.

  std::optional<http::TlsFiles> tls() const;
};

struct ListenAddress {
  std::string address;
  std::uint16_t port;
  bool loopback;
};

// Where the server may connect to on behalf of clients.
struct OutgoingPolicies {
  http::OutgoingPolicyPtr destinations;  // Of mappings and of asynchronous invocations.
  http::OutgoingPolicyPtr functions;     // Of runtime http.
  http::OutgoingPolicyPtr webhooks;      // Of alarms.
};
Result<OutgoingPolicies> outgoing_policies(const Config& config, const ListenAddress& listen);

// Overlays the settings of config.file, if there is one: keys as the options are named, without
// dashes in front; docs/configuration.md lists them. An unknown key is an error.
Result<void> load_config(Config& config);
Result<ListenAddress> parse_listen(const std::string& text);
Result<void> check_config(const Config& config);

}  // namespace redrive::app
