#include "observe/traces/span.h"

#include <fmt/format.h>

#include "net/wire/encode.h"

namespace redrive::traces {
namespace {

constexpr int kStatusError = 2;

std::string json_text(std::string_view text) {
  std::string out;
  wire::append_json_text(out, text);
  return out;
}

// 64-bit numbers are encoded as strings.
std::string nanoseconds(Timestamp time) {
  return fmt::format("\"{}000000\"", time.ms());
}

void append_attributes(std::string& out,
                       const std::vector<std::pair<std::string, std::string>>& attributes) {
  out += "\"attributes\":[";
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"key":{},"value":{{"stringValue":{}}}}})",
                   i == 0 ? "" : ",",
                   json_text(attributes[i].first),
                   json_text(attributes[i].second));
  }
  out += ']';
}

void append_span(std::string& out, const Span& span) {
  const std::string trace = hex(span.trace);
  fmt::format_to(
      std::back_inserter(out), R"({{"traceId":"{}","spanId":"{}",)", trace, hex(span.id));
  if (span.parent) {
    fmt::format_to(std::back_inserter(out), R"("parentSpanId":"{}",)", hex(*span.parent));
  }
  fmt::format_to(std::back_inserter(out),
                 R"("name":{},"kind":{},"startTimeUnixNano":{},"endTimeUnixNano":{},)",
                 json_text(span.name),
                 static_cast<int>(span.kind),
                 nanoseconds(span.start_wall),
                 nanoseconds(span.end_wall));
  append_attributes(out, span.attributes);
  if (span.link) {
    fmt::format_to(std::back_inserter(out),
                   R"(,"links":[{{"traceId":"{}","spanId":"{}"}}])",
                   trace,
                   hex(*span.link));
  }
  if (!span.error.empty()) {
    fmt::format_to(std::back_inserter(out),
                   R"(,"status":{{"code":{},"message":{}}})",
                   kStatusError,
                   json_text(span.error));
  }
  out += '}';
}

}  // namespace

std::string otlp_document(std::span<const Span> spans) {
  std::string out =
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"redrive"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"redrive"},"spans":[)";
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0) out += ',';
    append_span(out, spans[i]);
  }
  return out + "]}]}]}";
}

}  // namespace redrive::traces
