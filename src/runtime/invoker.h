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
#include "http/outgoing_policy.h"

namespace redrive::runtime {

// What it takes to run a function. Immutable; a change makes a new one with another `revision`.
struct FunctionSpec {
  std::string arn;  // Of $LATEST without a qualifier, of other versions with their number.
  std::string name;
  std::string version = "$LATEST";
  std::string runtime;  // python3.x, nodejsNN.x, provided.*, command, http.
  std::string handler;
  std::filesystem::path code;  // Directory of unpacked code; of command and http may be empty.
  std::vector<std::string> command;  // Runtime command: its words.
  std::string url;                   // Runtime http.
  std::string revision;              // Workers of another revision are retired when idle.
  std::chrono::milliseconds timeout{3000};
  unsigned memory_mb = 128;
  // The user's and the server's (AWS_ENDPOINT_URL, keys, region), merged already.
  std::map<std::string, std::string> environment;
  std::optional<unsigned> concurrency_max;  // Reserved; 0: every invocation is throttled.
  std::string region;
  // What attempts say of the code that ran: the first digits of its SHA-256, and what interprets it
  // on this machine. Empty: not known.
  std::string code_version = {};
  std::string interpreter = {};
};

// Of invocations that share a lane at most so many run at a time. The others wait in it, in order,
// and for as long as it takes: to be next, not to be turned away. Whoever fills a lane ahead keeps
// processes busy that would otherwise wait for it between two events.
struct Lane {
  std::atomic<unsigned> running_max = 1;  // At least 1. What is raised holds from the next end on.
  // How many wait. While there are some, nobody has to hurry: not who brings more of them, nor who
  // takes care of those that have run.
  mutable std::atomic<unsigned> waiting = 0;
};

// A text that all copies share: events are large, and whoever sends one may have to send it again.
//
// It is JSON, or in a format that some processes say they read, sooner than JSON. To all others it
// goes as JSON. What format it has is told beside the text and never guessed from it: it may hold
// whatever somebody sends.
class Payload {
 public:
  struct Format {
    std::string_view name;
    std::string (*json)(std::string_view text);  // The same as JSON.
  };
  template <std::convertible_to<std::string> Text>
  Payload(Text&& text) : text_(std::make_shared<const std::string>(std::forward<Text>(text))) {}
  // The format lives as long as the program.
  Payload(std::string text, const Format& format) : Payload(std::move(text)) { format_ = &format; }

  const std::string& text() const { return *text_; }
  std::size_t size() const { return text_->size(); }
  std::string_view format() const { return format_ != nullptr ? format_->name : "json"; }
  Payload as_json() const { return format_ != nullptr ? Payload(format_->json(*text_)) : *this; }

 private:
  std::shared_ptr<const std::string> text_;
  const Format* format_ = nullptr;  // None: JSON.
};

struct Invocation {
  std::string request_id;  // A UUID.
  Payload payload;
  std::string client_context;  // JSON or empty.
  std::string trace;           // X-Ray header or empty.
  std::string invoked_arn;     // As the caller named the function; empty: the function's own.
  std::shared_ptr<const Lane> lane = {};  // None: it runs as soon as there is room.
  std::function<void()> admitted = {};    // It is its turn in its lane. May be empty.
};

struct Outcome {
  enum class Kind : std::uint8_t {
    done,
    function_error,  // The function ran, or was to run, and failed.
    throttled,       // It did not run: no room, or its reserved concurrency is in use.
    service_error,   // It did not run, or its end is unknown, through no fault of its own.
  };
  Kind kind = Kind::done;
  std::string payload;  // The result, or the error document as the runtime gave it.
  // Of function_error, read from the document; of the others the reason in `error_message`.
  std::string error_type;
  std::string error_message;
  std::string stack;  // Lines.
  std::string log;    // Of this invocation, with START, END and REPORT; at most kLogBytesMax.
  std::chrono::microseconds duration{};
  bool fatal = false;               // The process died with it (timeout, exit, out of memory).
  bool waited_for_process = false;  // All processes that the server may have were in use.
};

inline constexpr std::size_t kMiB = 1u << 20;
// A log longer than this loses its middle.
inline constexpr std::size_t kLogBytesMax = 256u << 10;
// What a function may answer; the same bound as for what it is asked.
inline constexpr std::size_t kPayloadBytesMax = 6'291'556;

struct LogLine {
  std::uint64_t sequence = 0;  // Of its function; grows, starts with 1.
  Timestamp wall;
  std::string request_id;  // Empty: nobody's (initialisation, threads that go on).
  std::string text;        // Without its line break.
};

struct FunctionStats {
  unsigned starting = 0;
  unsigned running = 0;
  unsigned idle = 0;
  std::uint64_t invocations = 0;
  std::uint64_t errors = 0;
  std::uint64_t timeouts = 0;  // Counted in errors, too.
  std::uint64_t throttles = 0;
  std::uint64_t cold_starts = 0;
};

// Processes of all functions together.
struct ProcessUse {
  unsigned processes = 0;
  unsigned processes_max = 0;
  std::uint64_t waits = 0;  // Invocations that had to wait because processes_max was reached.
};

inline constexpr unsigned kProcessesDefault = 32;
inline constexpr unsigned kFunctionUsers = 606;

struct InvokerOptions {
  // Made when missing, and emptied at the start: nobody else's. A server that is root gives a
  // place that every user may enter, outside of its data.
  std::filesystem::path scratch;
  // Where logs are kept over restarts; empty: they are not.
  std::filesystem::path logs = {};
  // Directories that no function may look into, as far as the machine lets us hide them.
  std::vector<std::filesystem::path> hidden;
  enum class Sandbox : std::uint8_t { automatic, off, required };
  Sandbox sandbox = Sandbox::automatic;  // Bubblewrap.
  bool may_mount = true;                 // If the server can, as root.
  // A server that is root gives each process a user of its own out of this range. systemd's table
  // of users leaves it to nobody.
  unsigned user_first = 60'578;
  unsigned user_count = kFunctionUsers;
  unsigned processes_max = kProcessesDefault;
  unsigned http_calls_max = 64;
  // Where functions of runtime http may be.
  http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
  std::chrono::milliseconds idle_time_max{300'000};
  std::chrono::milliseconds init_time_max{10'000};  // Before the time of the function begins.
  std::chrono::milliseconds queue_time_max{1'000};  // For room; then throttled.
  // Programs by runtime ("python3.11", "nodejs"); what is not named is looked for.
  std::map<std::string, std::string> interpreters;
  // Takes a line for the server's log. From any thread; may be empty.
  std::function<void(std::string)> warn = {};
};

// Runs functions, each in processes of its own that are kept warm, fed through the Lambda Runtime
// API. Members may be called from any thread.
class Invoker {
 public:
  // Ends every process. What is running ends with service_error.
  virtual ~Invoker() = default;

  // `done` is called once, on a thread of the invoker's; it must not block for long, and may call
  // the invoker.
  virtual void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
                      std::function<void(Outcome)> done) = 0;
  // The function has changed or gone: its idle processes end, running ones after their invocation.
  virtual void retire(const std::string& arn) = 0;
  // The function is gone: its log and its numbers, too.
  virtual void forget(const std::string& arn) = 0;
  // Lines after that sequence number, oldest first. A bounded number is kept of each function.
  virtual std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                                    std::size_t lines_max) = 0;
  virtual FunctionStats stats(const std::string& arn) = 0;
  virtual ProcessUse process_use() const { return {}; }
  // How processes are contained on this machine, in words for an operator.
  virtual std::string isolation() const = 0;
};

// Fails when the scratch directory cannot be used, or a sandbox is required and there is none.
Result<std::unique_ptr<Invoker>> make_invoker(InvokerOptions options);

}  // namespace redrive::runtime
