#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/http/outgoing_policy.h"

namespace redrive::runtime {

// Everything needed to run a function. Immutable; a change creates a new one with another
// `revision`.
struct FunctionSpec {
  std::string arn;  // Unqualified for $LATEST, with the number for other versions.
  std::string name;
  std::string version = "$LATEST";
  std::string runtime;  // python3.x, nodejsNN.x, provided.*, command, http.
  std::string handler;
  std::filesystem::path code;  // Directory of unpacked code; may be empty for command and http.
  std::vector<std::string> command;  // Runtime command: program and arguments.
  std::string url;                   // Runtime http.
  std::string revision;              // Idle workers of another revision are ended.
  std::chrono::milliseconds timeout{3000};
  unsigned memory_mb = 128;
  // Variables of the user and of the server (AWS_ENDPOINT_URL, keys, region), already merged.
  std::map<std::string, std::string> environment;
  std::optional<unsigned> concurrency_max;  // Reserved; 0: every invocation is throttled.
  std::string region;
  // Recorded in attempts: the first digits of the code's SHA-256 and the interpreter on this
  // machine. Empty: unknown.
  std::string code_version = {};
  std::string interpreter = {};
};

// Limits how many of the invocations that share it run at a time. The others wait in order, without
// a time limit, and are never throttled. Filling a lane ahead keeps processes busy that would
// otherwise wait between two events.
struct Lane {
  // At least 1. An increase takes effect when the next run ends.
  std::atomic<unsigned> running_max = 1;
  // Number of waiting invocations. While it is positive, neither submitting more nor handling
  // results is urgent.
  mutable std::atomic<unsigned> waiting = 0;
};

// An immutable text shared by all copies: events are large, and may have to be sent again.
//
// It is JSON, or another format that some processes declare they read, which is faster. All others
// get it as JSON. The format is stored separately and never guessed from the text, which is
// untrusted.
class Payload {
 public:
  struct Format {
    std::string_view name;
    std::string (*json)(std::string_view text);  // Converts to JSON.
  };
  template <std::convertible_to<std::string> Text>
  Payload(Text&& text) : text_(std::make_shared<const std::string>(std::forward<Text>(text))) {}
  // `format` must have static lifetime.
  Payload(std::string text, const Format& format) : Payload(std::move(text)) { format_ = &format; }

  const std::string& text() const { return *text_; }
  std::size_t size() const { return text_->size(); }
  std::string_view format() const { return format_ != nullptr ? format_->name : "json"; }
  Payload as_json() const { return format_ != nullptr ? Payload(format_->json(*text_)) : *this; }

 private:
  std::shared_ptr<const std::string> text_;
  const Format* format_ = nullptr;  // Null: JSON.
};

struct Invocation {
  std::string request_id;  // A UUID.
  Payload payload;
  std::string client_context;  // JSON or empty.
  std::string trace;           // X-Ray header or empty.
  std::string invoked_arn;     // As the caller named the function; empty: the function's own ARN.
  std::shared_ptr<const Lane> lane = {};  // Null: it runs as soon as there is capacity.
  std::function<void()> admitted = {};    // Called when it leaves its lane's queue. May be empty.
};

struct Outcome {
  enum class Kind : std::uint8_t {
    done,
    function_error,  // The function ran, or was started, and failed.
    throttled,       // It did not run: no capacity, or the reserved concurrency is in use.
    service_error,   // It did not run, or its result is unknown; not the function's fault.
  };
  Kind kind = Kind::done;
  std::string payload;  // The result, or the runtime's error document.
  // For function_error, from the error document; otherwise the reason is in `error_message`.
  std::string error_type;
  std::string error_message;
  std::string stack;  // Lines.
  std::string log;    // Of this invocation, with START, END and REPORT; at most kLogBytesMax.
  std::chrono::microseconds duration{};
  bool fatal = false;               // The process died with it (timeout, exit, out of memory).
  bool waited_for_process = false;  // The server's process limit was reached.
};

inline constexpr std::size_t kMiB = 1u << 20;
// The middle of a longer log is omitted.
inline constexpr std::size_t kLogBytesMax = 256u << 10;
// Maximum size of a response; the same as for a request.
inline constexpr std::size_t kPayloadBytesMax = 6'291'556;

struct LogLine {
  std::uint64_t sequence = 0;  // Per function, starting with 1.
  Timestamp wall;
  std::string request_id;  // Empty: outside invocations (initialisation, background threads).
  std::string text;        // Without its line break.
};

struct FunctionStats {
  unsigned starting = 0;
  unsigned running = 0;
  unsigned idle = 0;
  std::uint64_t invocations = 0;
  std::uint64_t errors = 0;
  std::uint64_t timeouts = 0;  // Also counted in errors.
  std::uint64_t throttles = 0;
  std::uint64_t cold_starts = 0;
};

// Processes of all functions.
struct ProcessUse {
  unsigned processes = 0;
  unsigned processes_max = 0;
  std::uint64_t waits = 0;  // Invocations that waited because processes_max was reached.
};

inline constexpr unsigned kProcessesDefault = 32;
inline constexpr unsigned kFunctionUsers = 606;

struct InvokerOptions {
  // Created if missing, and emptied at start: for exclusive use. If the server runs as root, it
  // must be a directory that every user can enter, outside the data directory.
  std::filesystem::path scratch;
  // Where logs are kept across restarts; empty: not kept.
  std::filesystem::path logs = {};
  // Directories to hide from functions, as far as the machine allows.
  std::vector<std::filesystem::path> hidden;
  enum class Sandbox : std::uint8_t { automatic, off, required };
  Sandbox sandbox = Sandbox::automatic;  // Bubblewrap
  bool may_mount = true;                 // If possible, as root.
  // If the server runs as root, each process gets its own user from this range, which systemd's
  // list of user ids leaves unused.
  unsigned user_first = 60'578;
  unsigned user_count = kFunctionUsers;
  unsigned processes_max = kProcessesDefault;
  unsigned http_calls_max = 64;
  // Which addresses functions with runtime http may have.
  http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
  std::chrono::milliseconds idle_time_max{300'000};
  std::chrono::milliseconds init_time_max{10'000};  // Not counted against the function's timeout.
  std::chrono::milliseconds queue_time_max{1'000};  // Wait for capacity; then throttled.
  // Programs by runtime ("python3.11", "nodejs"); others are searched for.
  std::map<std::string, std::string> interpreters;
  // Logs a line in the server's log. Thread-safe; may be empty.
  std::function<void(std::string)> warn = {};
};

// Runs functions, each in its own warm processes, fed through the Lambda Runtime API. Thread-safe.
class Invoker {
 public:
  // Ends all processes. Running invocations end with service_error.
  virtual ~Invoker() = default;

  // `done` is called once, on an invoker thread; it must not block for long, and may call the
  // invoker.
  virtual void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
                      std::function<void(Outcome)> done) = 0;
  // The function has changed or been deleted: its idle processes end at once, running ones after
  // their invocation.
  virtual void retire(const std::string& arn) = 0;
  // The function has been deleted: drops its log and statistics, too.
  virtual void forget(const std::string& arn) = 0;
  // Lines after that sequence number, oldest first. The number of lines kept per function is
  // bounded.
  virtual std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                                    std::size_t lines_max) = 0;
  virtual FunctionStats stats(const std::string& arn) = 0;
  virtual ProcessUse process_use() const { return {}; }
  // How processes are isolated on this machine, described for operators.
  virtual std::string isolation() const = 0;
};

// Fails if the scratch directory cannot be used, or if a sandbox is required but not available.
Result<std::unique_ptr<Invoker>> make_invoker(InvokerOptions options);

}  // namespace redrive::runtime
