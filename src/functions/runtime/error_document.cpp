#include "functions/runtime/error_document.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/text.h"
#include "net/wire/encode.h"
#include "net/wire/reported_error.h"

namespace redrive::runtime {
namespace {

std::string request_error(std::string_view request_id, std::string_view what) {
  return fmt::format("RequestId: {} Error: {}", request_id, what);
}

std::string text_of(simdjson::simdjson_result<simdjson::dom::element> value) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  simdjson::dom::element other;
  if (value.get(other) != simdjson::SUCCESS || other.is_null()) return {};
  return simdjson::minify(other);
}

// Lower case, like Go's signal names, which Lambda uses.
std::string signal_name(int signal) {
  const char* const words = ::sigdescr_np(signal);
  std::string name = words != nullptr ? words : fmt::format("signal {}", signal);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return name;
}

}  // namespace

PlatformError timeout_error(std::string_view request_id, std::chrono::milliseconds timeout) {
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  return {.type = "Sandbox.Timedout",
          .message = request_error(request_id,
                                   fmt::format("Task timed out after {:.2f} seconds", seconds))};
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) return "signal: " + signal_name(WTERMSIG(wait_status));
  const int code = WEXITSTATUS(wait_status);
  return code == 0 ? "" : fmt::format("exit status {}", code);
}

PlatformError exit_error(std::string_view request_id, int wait_status) {
  const std::string how = describe_exit(wait_status);
  return {.type = "Runtime.ExitError",
          .message = request_error(request_id,
                                   how.empty() ? "Runtime exited without providing a reason"
                                               : "Runtime exited with error: " + how)};
}

PlatformError out_of_memory_error(std::string_view request_id, int signal) {
  return {.type = "Runtime.OutOfMemory",
          .message = request_error(request_id,
                                   "Runtime exited with error: signal: " + signal_name(signal))};
}

PlatformError response_too_large_error() {
  return {.type = "Function.ResponseSizeTooLarge",
          .message = fmt::format("Response payload size exceeded maximum allowed payload size "
                                 "({} bytes).",
                                 kPayloadBytesMax)};
}

std::string json_text(std::string_view text) {
  std::string clean(text);
  if (!is_utf8(text)) {
    // Not UTF-8: keep only ASCII.
    std::ranges::replace_if(
        clean, [](char c) { return static_cast<signed char>(c) < 0; }, '?');
  }
  std::string out;
  wire::append_json_text(out, clean);
  return out;
}

std::string error_document(const PlatformError& error) {
  return fmt::format(
      "{{\"errorType\":{},\"errorMessage\":{}}}", json_text(error.type), json_text(error.message));
}

Outcome failed_with(const PlatformError& error) {
  return {.kind = Outcome::Kind::function_error,
          .payload = error_document(error),
          .error_type = error.type,
          .error_message = error.message};
}

Outcome failed_with_document(std::string document, std::string_view type_hint) {
  Outcome outcome{.kind = Outcome::Kind::function_error, .error_type = std::string(type_hint)};
  simdjson::dom::parser parser;
  simdjson::dom::element parsed;
  if (parser.parse(document).get(parsed) == simdjson::SUCCESS && parsed.is_object()) {
    const std::string type = text_of(parsed["errorType"]);
    if (!type.empty()) outcome.error_type = type;
    outcome.error_message = text_of(parsed["errorMessage"]);
    outcome.stack = wire::read_error(parsed, wire::ErrorFields::document).stack;
  }
  if (outcome.error_type.empty()) outcome.error_type = "Runtime.Unknown";
  outcome.payload = std::move(document);
  return outcome;
}

Outcome throttled(std::string reason) {
  return {.kind = Outcome::Kind::throttled, .error_message = std::move(reason)};
}

Outcome service_failed(std::string reason) {
  return {.kind = Outcome::Kind::service_error, .error_message = std::move(reason)};
}

bool is_json(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element ignored;
  return parser.parse(text.data(), text.size()).get(ignored) == simdjson::SUCCESS;
}

}  // namespace redrive::runtime
