#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

#include "runtime/invoker.h"

namespace redrive::runtime {

// An error as Lambda's platform tells it when the function cannot:
// {"errorType":…,"errorMessage":…}.
struct PlatformError {
  std::string type;
  std::string message;
};

PlatformError timeout_error(std::string_view request_id, std::chrono::milliseconds timeout);
// `wait_status` as waitpid has it.
PlatformError exit_error(std::string_view request_id, int wait_status);
PlatformError out_of_memory_error(std::string_view request_id, int signal = SIGKILL);
PlatformError response_too_large_error();

// "exit status 1", "signal: killed"; empty for a process that ended as if all were well.
std::string describe_exit(int wait_status);

std::string error_document(const PlatformError& error);

Outcome failed_with(const PlatformError& error);
// What a runtime reported. `type_hint` is what its header said, for documents that do not.
Outcome failed_with_document(std::string document, std::string_view type_hint);
Outcome throttled(std::string reason);
Outcome service_failed(std::string reason);

bool is_json(std::string_view text);
std::string json_text(std::string_view text);

}  // namespace redrive::runtime
