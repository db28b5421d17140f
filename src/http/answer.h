#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/message.h"

namespace redrive::http {

// What a request is answered with, made where it is served and written where its connection is.
struct Answer {
  int status = 200;
  std::string content_type = {};  // None when empty.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::optional<std::uint64_t> length = {};  // Of the body that a HEAD leaves out.
};

// Appends the response; `first` are headers that every answer of its API has.
void append_answer(std::string& out, const Answer& answer, std::vector<Header> first,
                   bool keep_alive);

}  // namespace redrive::http
