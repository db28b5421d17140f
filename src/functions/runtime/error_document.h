#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

#include "functions/runtime/invoker.h"

namespace redrive::runtime {

// An error reported by Lambda's platform when the function cannot report it itself:
// {"errorType":…,"errorMessage":…}.
struct PlatformError {
  std::string type;
  std::string message;
};

PlatformError timeout_error(std::string_view request_id, std::chrono::milliseconds timeout);
// `wait_status` as returned by waitpid.
PlatformError exit_error(std::string_view request_id, int wait_status);
PlatformError out_of_memory_error(std::string_view request_id, int signal = SIGKILL);
PlatformError response_too_large_error();

// "exit status 1", "signal: killed"; empty for exit status 0.
std::string describe_exit(int wait_status);

std::string error_document(const PlatformError& error);

Outcome failed_with(const PlatformError& error);
// The error reported by a runtime. `type_hint` comes from its header, for documents without a type.
Outcome failed_with_document(std::string document, std::string_view type_hint);
Outcome throttled(std::string reason);
Outcome service_failed(std::string reason);

bool is_json(std::string_view text);
std::string json_text(std::string_view text);

}  // namespace redrive::runtime
