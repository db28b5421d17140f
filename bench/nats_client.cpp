#include "bench/nats_client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <utility>

namespace redrive::bench {
namespace {

using Kind = NatsFrame::Kind;

// Our subscriptions, by number.
constexpr std::string_view kConfirmations = "1";
constexpr std::string_view kMessages = "2";
constexpr std::string_view kCreations = "3";
constexpr std::size_t kCreationAnswers = 2;
constexpr long kPullNanoseconds = 30'000'000'000;

void append_publish(std::string& out, std::string_view subject, std::string_view reply,
                    std::string_view payload) {
  fmt::format_to(
      std::back_inserter(out), "PUB {} {} {}\r\n{}\r\n", subject, reply, payload.size(), payload);
}

std::string send_frames(const Task& task, const std::string& inbox) {
  const std::string body = body_text(task.body_bytes);
  std::string out;
  for (int i = 0; i < task.batch; ++i)
    append_publish(out, task.queue, inbox + kConfirmations.data(), body);
  return out;
}

// Inbox names are global to the server, so they include the process id.
std::string inbox_of(const Task& task) {
  return fmt::format("_INBOX.{}.{}.", getpid(), task.number);
}

}  // namespace

NatsClient::NatsClient(const Task& task)
    : task_(task),
      stream_("S_" + task.queue),
      inbox_(inbox_of(task)),
      send_(send_frames(task, inbox_)),
      awaited_(kCreationAnswers) {}

void NatsClient::append_greeting(std::string& out) const {
  out +=
      "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,"
      "\"lang\":\"c++\",\"version\":\"1\",\"protocol\":1}\r\n";
  for (const std::string_view number : {kConfirmations, kMessages, kCreations})
    fmt::format_to(std::back_inserter(out), "SUB {}{} {}\r\n", inbox_, number, number);
  append_publish(
      out,
      "$JS.API.STREAM.CREATE." + stream_,
      inbox_ + kCreations.data(),
      fmt::format(R"({{"name":"{}","subjects":["{}"],"retention":"workqueue","storage":"file",)"
                  R"("num_replicas":1}})",
                  stream_,
                  task_.queue));
  append_publish(
      out,
      fmt::format("$JS.API.CONSUMER.DURABLE.CREATE.{}.g", stream_),
      inbox_ + kCreations.data(),
      fmt::format(R"({{"stream_name":"{}","config":{{"durable_name":"g","ack_policy":"explicit",)"
                  R"("ack_wait":600000000000,"max_ack_pending":100000,"max_waiting":10000}}}})",
                  stream_));
}

Result<Progress> NatsClient::greet(std::string& in, std::string& out) {
  while (awaited_ > 0) {
    const auto frame = TRY(parse_nats(in));
    if (!frame) return Progress::under_way;
    if (frame->kind == Kind::info && awaited_ == kCreationAnswers) append_greeting(out);
    RETURN_IF_ERROR(take_one(*frame, out));
    in.erase(0, frame->size);
  }
  return Progress::done;
}

void NatsClient::send(std::string& out, Nanos sent) {
  phase_ = Phase::sending;
  awaited_ = static_cast<std::size_t>(task_.batch);
  send_.append_to(out, sent);
}

Progress NatsClient::receive(std::string& out) {
  received_ = std::exchange(waiting_, {});
  if (credit_ <= task_.receive_batch / 2) {
    append_publish(
        out,
        fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.g", stream_),
        inbox_ + kMessages.data(),
        fmt::format(R"({{"batch":{},"expires":{}}})", task_.receive_batch, kPullNanoseconds));
    credit_ += task_.receive_batch;
  }
  if (!received_.empty()) return Progress::done;
  phase_ = Phase::receiving;
  pull_ended_ = false;
  return Progress::under_way;
}

Progress NatsClient::remove(std::string& out) {
  phase_ = Phase::removing;
  awaited_ = received_.size();
  for (const Arrival& message : received_)
    append_publish(out, message.handle, inbox_ + kConfirmations.data(), "+ACK");
  return Progress::under_way;
}

Result<Progress> NatsClient::take(std::string& in, std::string& out) {
  std::size_t taken = 0;
  while (const auto frame = TRY(parse_nats(std::string_view(in).substr(taken)))) {
    RETURN_IF_ERROR(take_one(*frame, out));
    taken += frame->size;
  }
  in.erase(0, taken);
  if (!is_complete()) return Progress::under_way;
  phase_ = Phase::idle;
  return Progress::done;
}

bool NatsClient::is_complete() {
  if (phase_ == Phase::receiving) {
    received_ = std::exchange(waiting_, {});
    return !received_.empty() || pull_ended_;
  }
  return phase_ != Phase::idle && awaited_ == 0;
}

Result<void> NatsClient::take_one(const NatsFrame& frame, std::string& out) {
  if (frame.kind == Kind::error) return unwelcome("NATS", frame.payload);
  if (frame.kind == Kind::ping) out += "PONG\r\n";
  if (frame.subscription == kMessages) return take_message(frame);
  if (frame.subscription == kCreations || frame.subscription == kConfirmations)
    return take_created(frame);
  return {};
}

Result<void> NatsClient::take_message(const NatsFrame& frame) {
  if (frame.kind == Kind::message_with_header) {  // Not a message: the end of a pull.
    credit_ = 0;
    pull_ended_ = true;
    return {};
  }
  --credit_;
  waiting_.push_back({.handle = std::string(frame.reply), .sent = stamp_of(frame.payload)});
  return {};
}

// A queue was created, or a message or an ack was stored.
Result<void> NatsClient::take_created(const NatsFrame& frame) {
  if (frame.kind == Kind::message_with_header ||
      frame.payload.find("\"error\"") != frame.payload.npos)
    return unwelcome("NATS", frame.payload);
  assert(awaited_ > 0);
  --awaited_;
  return {};
}

}  // namespace redrive::bench
