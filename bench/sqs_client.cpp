#include "bench/sqs_client.h"

#include "bench/caller.h"
#include "bench/json_scan.h"

namespace redrive::bench {
namespace {

// A batch may fail partially, with status 200.
bool has_failed_entries(std::string_view body) {
  return body.find("\"Failed\"") != std::string_view::npos &&
         body.find("\"Code\"") != std::string_view::npos;
}

}  // namespace

void SqsClient::send(std::string& out, Nanos sent) {
  phase_ = Phase::sending;
  target_.sends[target_.sends_next++ % target_.sends.size()].append_to(out, sent);
}

Progress SqsClient::receive(std::string& out) {
  phase_ = Phase::receiving;
  received_.clear();
  out += target_.receive_request;
  return Progress::under_way;
}

Progress SqsClient::remove(std::string& out) {
  phase_ = Phase::removing;
  append_delete_request(out, target_.endpoint, target_.queue_url, received_);
  return Progress::under_way;
}

Result<Progress> SqsClient::take(std::string& in, std::string&) {
  const auto reply = TRY(parse_reply(in));
  if (!reply) return Progress::under_way;
  if (reply->size != in.size()) return unwelcome("the server", "more than one request asked for");
  if (reply->status != 200 || has_failed_entries(reply->body)) return refusal(*reply);
  if (phase_ == Phase::receiving) note_messages(reply->body);
  phase_ = Phase::idle;
  in.clear();
  return Progress::done;
}

void SqsClient::note_messages(std::string_view body) {
  JsonTexts handles(body, "\"ReceiptHandle\"");
  JsonTexts bodies(body, "\"Body\"");
  while (const auto handle = handles.next()) {
    received_.push_back({.handle = std::string(*handle),
                         .sent = stamp_of(bodies.next().value_or(std::string_view()))});
  }
}

}  // namespace redrive::bench
