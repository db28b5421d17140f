#include "http/answer.h"

namespace redrive::http {

void append_answer(std::string& out, const Answer& answer, std::vector<Header> first,
                   bool keep_alive) {
  // Browsers otherwise take an upload or an error with markup in it for a page, and run its
  // scripts.
  if (!answer.content_type.empty()) first.push_back({"X-Content-Type-Options", "nosniff"});
  for (const auto& [name, value] : answer.headers) first.push_back({name, value});
  const std::size_t mark = begin_response(out,
                                          {.status = answer.status,
                                           .content_type = answer.content_type,
                                           .headers = first,
                                           .keep_alive = keep_alive});
  if (!answer.length) {
    out += answer.body;
    return end_response(out, mark);
  }
  // The place for the length, as begin_response left it; nothing follows the head of a HEAD.
  const std::size_t end = out.find('\r', mark);
  out.replace(mark, end - mark, std::to_string(*answer.length));
}

}  // namespace redrive::http
