#include "net/http/parser.h"

#include <algorithm>
#include <cassert>

namespace redrive::http {

std::size_t Parser::body_bytes() const {
  return head_.chunked ? chunks_.body_bytes() : static_cast<std::size_t>(head_.body_bytes);
}

std::size_t Parser::bytes_useful(const Limits& limits) const {
  if (!head_done_) return limits.head_bytes_max;
  if (!head_.chunked) return request_bytes();
  const std::size_t line_bytes_max = std::max(kChunkLineBytesMax, limits.head_bytes_max);
  const std::size_t body_bytes_max = head_.upload ? limits.upload_bytes_max : limits.body_bytes_max;
  return head_.bytes + body_bytes_max + line_bytes_max;
}

Parser::Status Parser::parse(Buffer& in, const Limits& limits, Request& request) {
  assert(!refused_);
  const bool head_is_new = !head_done_;
  if (head_is_new) {
    const Step step = parse_head(in.unread(), limits, request, head_, refusal_);
    if (step == Step::need_more) return Status::need_more;
    refused_ = step == Step::refused;
    if (refused_) return Status::refused;
    head_done_ = true;
  }
  const bool body_begun = in.size() > head_.bytes;
  const Status status = parse_body(in, limits);
  if (status == Status::need_more && head_is_new && head_.expects_continue && !body_begun) {
    return Status::send_continue;
  }
  if (status != Status::complete) return status;
  if (!head_is_new) {
    // The buffer may have moved since the head was parsed, and the Request may have been used by
    // another connection.
    [[maybe_unused]] const Step again = parse_head(in.unread(), limits, request, head_, refusal_);
    assert(again == Step::done);
  }
  request.body = {in.data() + head_.bytes, body_bytes()};
  return Status::complete;
}

Parser::Status Parser::parse_body(Buffer& in, const Limits& limits) {
  if (!head_.chunked) return in.size() < request_bytes() ? Status::need_more : Status::complete;
  Limits own = limits;
  if (head_.upload) own.body_bytes_max = limits.upload_bytes_max;
  const Step step = chunks_.decode(in, head_.bytes, own, refusal_);
  if (step == Step::need_more) return Status::need_more;
  refused_ = step == Step::refused;
  return refused_ ? Status::refused : Status::complete;
}

}  // namespace redrive::http
