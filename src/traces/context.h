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

// Where a message stands in a trace that somebody else began.
struct Context {
  TraceId trace{};
  SpanId parent{};

  friend bool operator==(const Context&, const Context&) = default;
};

// X-Ray: Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1. Without a
// parent, or with Sampled=0, there is nothing to go on from.
std::optional<Context> parse_xray_header(std::string_view header);
// W3C: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
std::optional<Context> parse_traceparent(std::string_view header);

// What is known of a message's first send.
struct Origin {
  Uuid lineage;             // The MessageId of the first send, which redrives do not change.
  std::string xray;         // AWSTraceHeader, or empty.
  std::string traceparent;  // The message attribute of that name, or empty.
};

// The trace that a message belongs to, and the span of its first send, under which everything that
// happens to it later stands. Both follow from the message alone, so that those who see it at
// different times agree without speaking to each other. W3C wins over X-Ray; with neither, the
// message is a trace of its own.
struct Place {
  TraceId trace{};
  SpanId send{};
  std::optional<SpanId> before;  // Of whoever sent it.

  friend bool operator==(const Place&, const Place&) = default;
};
Place place_of(const Origin& origin);

}  // namespace redrive::traces
