#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace redrive::traces {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

std::string hex(const TraceId& id);
std::string hex(const SpanId& id);

// A message's position in a trace started elsewhere.
struct Context {
  TraceId trace{};
  SpanId parent{};

  friend bool operator==(const Context&, const Context&) = default;
};

// X-Ray: Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1. nullopt
// without a parent or with Sampled=0.
std::optional<Context> parse_xray_header(std::string_view header);
// W3C: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
std::optional<Context> parse_traceparent(std::string_view header);

// Data of a message's first send.
struct Origin {
  Uuid lineage;             // MessageId of the first send; unchanged by redrives.
  std::string xray;         // AWSTraceHeader, or empty.
  std::string traceparent;  // Message attribute `traceparent`, or empty.
};

// The trace that a message belongs to, and the span of its first send, the parent of everything
// that happens to it later. Both are derived from the message alone, so that all observers agree
// without communicating. W3C takes precedence over X-Ray; with neither, the message is its own
// trace.
struct Place {
  TraceId trace{};
  SpanId send{};
  std::optional<SpanId> before;  // The sender's span.

  friend bool operator==(const Place&, const Place&) = default;
};
Place place_of(const Origin& origin);

}  // namespace redrive::traces
