#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace redrive::functions {

using Tags = std::map<std::string, std::string>;

// Identifies a function by account, region and name.
struct FunctionId {
  std::string account;
  std::string region;
  std::string name;

  friend auto operator<=>(const FunctionId&, const FunctionId&) = default;
  std::string arn() const {
    return "arn:aws:lambda:" + region + ":" + account + ":function:" + name;
  }
};

// Current or earlier code of a function, and how it is run.
struct CodeRecord {
  std::string sha256;  // Base64; of the zip.
  std::uint64_t size = 0;
  std::string runtime;
  std::string handler;
  Timestamp deployed_wall;
};
inline constexpr std::size_t kCodeKept = 5;

struct Function {
  FunctionId id;
  std::string description;
  std::string runtime;  // python3.x, nodejsNN.x, provided.*, command, http.
  std::string handler;
  std::string role;
  std::chrono::seconds timeout{3};
  unsigned memory_mb = 128;
  std::map<std::string, std::string> environment;
  Tags tags;
  std::optional<unsigned> reserved_concurrency;
  std::string dead_letter_arn;  // For asynchronous invocations that failed for good.
  std::string code_sha256;      // Base64; of the zip.
  std::uint64_t code_size = 0;
  std::string directory;             // Instead of a zip: a developer's directory.
  std::vector<std::string> command;  // For the runtime "command".
  std::string url;                   // For the runtime "http".
  // Stored because clients read back what they set; none of it affects how a function runs.
  std::string architecture = "x86_64";
  unsigned storage_mb = 512;
  std::string tracing = "PassThrough";
  std::string log_format = "Text";
  std::string application_log_level;  // Empty: not set; so are the next two.
  std::string system_log_level;
  std::string log_group;
  std::string kms_key_arn;
  std::string source_kms_key_arn;
  std::string runtime_version_arn;
  std::map<std::string, std::string> permissions;  // Policy statements by Sid.
  std::string revision;                            // Changes with every update.
  Timestamp modified_wall;
  std::string version;  // Of a published version; empty: $LATEST, which is mutable.
  // Of $LATEST: encoded documents of the published versions, by number, and of the aliases, by
  // name.
  std::map<std::string, std::string> versions;
  std::map<std::string, std::string> aliases;
  std::uint32_t version_last = 0;  // Version numbers are not reused.
  // Of $LATEST: the last kCodeKept codes, the current one last.
  std::vector<CodeRecord> code_history = {};
};

// A named reference to a version.
struct Alias {
  std::string name;
  std::string version;
  std::string description;
  std::string revision;
};

// A retrier as in Step Functions.
struct Retrier {
  enum class Jitter : std::uint8_t { none, full };

  std::vector<std::string> error_equals;
  std::uint32_t interval_seconds = 1;
  std::uint32_t max_attempts = 3;  // 0: no retries.
  double backoff_rate = 2.0;
  std::optional<std::uint32_t> max_delay_seconds;
  Jitter jitter = Jitter::none;
};

// An event source mapping: a queue that feeds a function.
struct Mapping {
  std::string id;  // UUID.
  std::string account;
  std::string region;
  std::string queue_arn;
  std::string function_arn;  // The caller's function name as an ARN, with or without a qualifier.
  bool enabled = true;
  std::uint32_t batch_size = 10;
  std::chrono::seconds window{0};
  bool report_item_failures = false;
  std::vector<std::string> filters;  // Patterns; a message must match one of them.
  std::optional<std::uint32_t> concurrency_max;
  std::optional<std::uint32_t> pollers_min;  // ProvisionedPollerConfig
  std::optional<std::uint32_t> pollers_max;
  bool counts_events = false;  // MetricsConfig
  Tags tags;
  Timestamp modified_wall;
  // Extensions that AWS does not offer for queues.
  bool bisect = false;
  std::optional<std::uint32_t> retries_max;     // nullopt: limited only by the queue.
  std::optional<std::chrono::seconds> age_max;  // nullopt: unlimited.
  std::string on_success;  // ARN of a queue, function or bucket, or a URL; empty: none.
  std::string on_failure;
  std::vector<Retrier> retriers;
  // After a batch failed as a whole, run its messages one by one. nullopt: on. Ignored for FIFO
  // queues, which keep their order.
  std::optional<bool> isolate_retries;

  std::string arn() const {
    return "arn:aws:lambda:" + region + ":" + account + ":event-source-mapping:" + id;
  }
};

// Settings for asynchronous invocation.
struct InvokeConfig {
  std::string function_arn;                     // With the qualifier, unless it is $LATEST.
  std::optional<std::uint32_t> retries_max;     // nullopt: 2.
  std::optional<std::chrono::seconds> age_max;  // nullopt: 6 hours.
  std::string on_success;
  std::string on_failure;
  Timestamp modified_wall;
};

}  // namespace redrive::functions
