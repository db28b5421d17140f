#include "net/http/answer.h"

namespace redrive::http {

void append_answer(std::string& out, const Answer& answer, std::vector<Header> first,
                   bool keep_alive) {
  // Without nosniff, browsers may treat an upload or an error text containing markup as a page and
  // run its scripts.
  if (!answer.content_type.empty()) first.push_back({"X-Content-Type-Options", "nosniff"});
  for (const auto& [name, value] : answer.headers) first.push_back({name, value});
  const std::size_t length_at = begin_response(out,
                                               {.status = answer.status,
                                                .content_type = answer.content_type,
                                                .headers = first,
                                                .keep_alive = keep_alive});
  if (!answer.length) {
    out += answer.body;
    return end_response(out, length_at);
  }
  // A HEAD response: overwrite the Content-Length placeholder that begin_response left; no body
  // follows.
  const std::size_t end = out.find('\r', length_at);
  out.replace(length_at, end - length_at, std::to_string(*answer.length));
}

}  // namespace redrive::http
