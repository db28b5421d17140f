#include "net/http/kept_request.h"

namespace redrive::http {

KeptRequest::KeptRequest(const Request& original) : request_(original) {
  for (Header& header : request_.headers) {
    header = {.name = keep(header.name), .value = keep(header.value)};
  }
  request_.method = keep(original.method);
  request_.target = keep(original.target);
  request_.path = keep(original.path);
  request_.query = keep(original.query);
  request_.host = keep(original.host);
  request_.peer = keep(original.peer);
  request_.body = keep(original.body);
}

// Copies the text with kBodyPadding bytes behind it, for parsers that read ahead.
std::string_view KeptRequest::keep(std::string_view text) {
  std::string& kept = texts_.emplace_back();
  kept.reserve(text.size() + kBodyPadding);
  kept.append(text);
  kept.resize(text.size() + kBodyPadding);
  return std::string_view(kept).substr(0, text.size());
}

}  // namespace redrive::http
