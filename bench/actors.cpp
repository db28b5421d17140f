#include "bench/actors.h"

#include <fmt/format.h>

#include "bench/caller.h"
#include "bench/json_scan.h"

namespace redrive::bench {
namespace {

// A batch may fail in part, with a 200 all the same.
bool has_failed_entries(std::string_view body) {
  return body.find("\"Failed\"") != std::string_view::npos &&
         body.find("\"Code\"") != std::string_view::npos;
}

Result<void> check_done(const Reply& reply) {
  if (reply.status != 200 || has_failed_entries(reply.body)) return refusal(reply);
  return {};
}

}  // namespace

Step Producer::next(std::string& out) {
  if (limits_.count > 0 && tally_.started >= limits_.count) return Step::done;
  const std::int64_t unfinished = tally_.started - tally_.deleted;
  if (limits_.window > 0 && unfinished + limits_.batch > limits_.window) return Step::pause;
  tally_.started += limits_.batch;
  began_ = now();
  request_.write_to(out, began_);
  return Step::request;
}

Result<void> Producer::answered(const Reply& reply) {
  CHECK(check_done(reply));
  ++tally_.requests;
  tally_.sent += limits_.batch;
  if (limits_.window == 0) tally_.latencies.add(now() - began_);
  return {};
}

Step Consumer::next(std::string& out) {
  if (!handles_.empty()) {
    append_delete_request(out, target_.endpoint, target_.queue_url, handles_);
    return Step::request;
  }
  if (saw_empty_ && target_.until == Until::empty) return Step::done;
  began_ = now();
  out = target_.receive_request;
  return Step::request;
}

Result<void> Consumer::answered(const Reply& reply) {
  CHECK(check_done(reply));
  ++tally_.requests;
  if (handles_.empty()) {
    take_messages(reply.body);
    return {};
  }
  tally_.deleted += static_cast<std::int64_t>(handles_.size());
  handles_.clear();
  if (target_.until == Until::empty) tally_.latencies.add(now() - began_);
  return {};
}

void Consumer::take_messages(std::string_view body) {
  JsonTexts handles(body, "\"ReceiptHandle\"");
  while (const auto handle = handles.next()) handles_.emplace_back(*handle);
  saw_empty_ = handles_.empty();
  if (saw_empty_) ++tally_.empty_receives;
  if (target_.until == Until::empty) return;
  const Nanos arrived = now();
  JsonTexts bodies(body, "\"Body\"");
  while (const auto text = bodies.next()) {
    if (const auto sent = stamp_of(*text)) tally_.latencies.add(arrived - *sent);
  }
}

}  // namespace redrive::bench
