#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace redrive::runtime {

// What it takes to run a function. A change makes another one, with another revision.
struct FunctionSpec {
  std::string arn;  // Without a qualifier.
  std::string name;
  std::string runtime;  // python3.x, nodejsNN.x, provided.*, command, http.
  std::string handler;
  std::filesystem::path code;        // The directory of its unpacked code.
  std::vector<std::string> command;  // Of the runtime "command".
  std::string url;                   // Of the runtime "http".
  std::string revision;
  std::chrono::milliseconds timeout{3000};
  unsigned memory_mb = 128;
  std::map<std::string, std::string> environment;
  std::optional<unsigned> concurrency_max;  // Reserved; 0: it never runs.
  std::string region;
};

struct Invocation {
  std::string request_id;
  std::string payload;         // JSON.
  std::string client_context;  // JSON, or empty.
  std::string trace;           // X-Ray header, or empty.
};

struct Outcome {
  enum class Kind {
    done,
    function_error,  // It ran, and failed.
    throttled,       // It did not run: too many do.
    service_error,   // It did not run: we could not start it.
  };
  Kind kind = Kind::done;
  std::string payload;  // Its result, or the document of its error.
  std::string error_type;
  std::string error_message;
  std::string stack;  // One frame a line.
  std::string log;    // The end of what this invocation wrote, with START, END and REPORT.
  std::chrono::microseconds duration{};
  bool fatal = false;  // The process has gone with it.
};

// Runs functions.
class Invoker {
 public:
  virtual ~Invoker() = default;
  // `done` is called once, on a thread of the invoker's or before this returns.
  virtual void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
                      std::function<void(Outcome)> done) = 0;
  // The function is gone or has changed: idle processes end now, others after what they do.
  virtual void retire(const std::string& arn) = 0;

  struct LogLine {
    std::uint64_t number = 0;  // Of this function's lines, from 1.
    Timestamp wall;
    std::string request_id;
    std::string text;
  };
  // The lines after that number which are still kept, oldest first.
  virtual std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                                    std::size_t max) const = 0;

  struct Stats {
    unsigned running = 0;
    unsigned idle = 0;
    std::uint64_t invocations = 0;
    std::uint64_t errors = 0;
    std::uint64_t throttles = 0;
    std::uint64_t cold_starts = 0;
  };
  virtual Stats stats(const std::string& arn) const = 0;
};

}  // namespace redrive::runtime
