#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "observe/traces/context.h"

namespace redrive::traces {

// Something that happened to a message, as an OpenTelemetry span.
struct Span {
  enum class Kind : std::uint8_t { internal = 1, producer = 4, consumer = 5 };

  TraceId trace{};
  SpanId id{};
  std::optional<SpanId> parent;
  std::optional<SpanId> link;  // To the first send, in the same trace.
  Kind kind = Kind::internal;
  std::string name;
  Timestamp start_wall;
  Timestamp end_wall;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string error;  // Empty: success.
};

// The JSON body of an OTLP/HTTP export request.
std::string otlp_document(std::span<const Span> spans);

}  // namespace redrive::traces
