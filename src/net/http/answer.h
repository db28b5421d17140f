#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http/message.h"

namespace redrive::http {

// A complete response. Built on whichever thread serves the request, written on the connection's
// thread.
struct Answer {
  int status = 200;
  std::string content_type = {};  // Empty: no Content-Type header.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Content-Length for a HEAD response, whose body is omitted.
  std::optional<std::uint64_t> length = {};
};

// Appends the response to `out`. `first` holds headers that every response of the API carries.
void append_answer(std::string& out, const Answer& answer, std::vector<Header> first,
                   bool keep_alive);

}  // namespace redrive::http
