#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

// The server's log in the management API.

namespace redrive::documents {

// A line that outlives its document.
struct KeptLogLine {
  std::uint64_t number = 0;
  std::string level;
  std::string at;
  std::string text;  // The sentence and its fields, as people read it.
};

struct ServerLogLine {
  std::int64_t number = 0;  // From 1, since the server started.
  std::string_view at;
  std::string_view level;
  std::string_view text;
};
consteval auto shape_of(ServerLogLine*) {
  return wire::shape(wire::required("number", &ServerLogLine::number),
                     wire::required("at", &ServerLogLine::at),
                     wire::required("level", &ServerLogLine::level),
                     wire::required("text", &ServerLogLine::text).sensitive());
}

struct ServerLogPage {
  std::vector<ServerLogLine> lines;
};
consteval auto shape_of(ServerLogPage*) {
  return wire::shape(wire::optional("lines", &ServerLogPage::lines).each("line").always());
}

}  // namespace redrive::documents
