#include "bench/amqp_client.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/text.h"

namespace redrive::bench {
namespace {

using namespace std::string_view_literals;

constexpr std::uint16_t kConnection = 0;  // Channel 0: the connection itself.
constexpr std::uint16_t kChannel = 1;
constexpr std::uint32_t kFrameBytesMax = 131072;
constexpr std::size_t kFrameBytesOverhead = 8;
constexpr std::uint16_t kHeaderDeliveryMode = 0x1000;  // The one property we send.
constexpr std::uint8_t kPersistent = 2;
constexpr std::uint8_t kDurable = 2;
constexpr int kPrefetchBatches = 5;

constexpr std::uint16_t kBasicClass = 60;
constexpr std::uint32_t kConnectionStart = amqp_id(10, 10);
constexpr std::uint32_t kConnectionStartOk = amqp_id(10, 11);
constexpr std::uint32_t kConnectionTune = amqp_id(10, 30);
constexpr std::uint32_t kConnectionTuneOk = amqp_id(10, 31);
constexpr std::uint32_t kConnectionOpen = amqp_id(10, 40);
constexpr std::uint32_t kConnectionOpenOk = amqp_id(10, 41);
constexpr std::uint32_t kConnectionClose = amqp_id(10, 50);
constexpr std::uint32_t kChannelOpen = amqp_id(20, 10);
constexpr std::uint32_t kChannelOpenOk = amqp_id(20, 11);
constexpr std::uint32_t kChannelClose = amqp_id(20, 40);
constexpr std::uint32_t kQueueDeclare = amqp_id(50, 10);
constexpr std::uint32_t kQueueDeclareOk = amqp_id(50, 11);
constexpr std::uint32_t kBasicQos = amqp_id(kBasicClass, 10);
constexpr std::uint32_t kBasicQosOk = amqp_id(kBasicClass, 11);
constexpr std::uint32_t kBasicConsume = amqp_id(kBasicClass, 20);
constexpr std::uint32_t kBasicConsumeOk = amqp_id(kBasicClass, 21);
constexpr std::uint32_t kBasicPublish = amqp_id(kBasicClass, 40);
constexpr std::uint32_t kBasicDeliver = amqp_id(kBasicClass, 60);
constexpr std::uint32_t kBasicAck = amqp_id(kBasicClass, 80);
constexpr std::uint32_t kBasicNack = amqp_id(kBasicClass, 120);
constexpr std::uint32_t kConfirmSelect = amqp_id(85, 10);
constexpr std::uint32_t kConfirmSelectOk = amqp_id(85, 11);

void append_publish(std::string& out, const Task& task, std::string_view body) {
  AmqpWriter(kBasicPublish)
      .u16(0)
      .short_text("")
      .short_text(task.queue)
      .u8(0)
      .append_frame(out, kChannel);
  AmqpWriter header;
  header.u16(kBasicClass).u16(0).u64(body.size()).u16(kHeaderDeliveryMode).u8(kPersistent);
  append_amqp_frame(out, AmqpFrame::header, kChannel, header.bytes());
  constexpr std::size_t kPieceBytes = kFrameBytesMax - kFrameBytesOverhead;
  for (std::size_t at = 0; at < body.size(); at += kPieceBytes)
    append_amqp_frame(out, AmqpFrame::body, kChannel, body.substr(at, kPieceBytes));
}

std::string send_frames(const Task& task) {
  const std::string body = body_text(task.body_bytes);
  std::string out;
  for (int i = 0; i < task.batch; ++i) append_publish(out, task, body);
  return out;
}

void append_login(std::string& out) {
  AmqpWriter(kConnectionStartOk)
      .long_text("")
      .short_text("PLAIN")
      .long_text("\0guest\0guest"sv)
      .short_text("en_US")
      .append_frame(out, kConnection);
}

void append_open(std::string& out) {
  constexpr std::uint16_t kChannelsMax = 2047;
  AmqpWriter(kConnectionTuneOk)
      .u16(kChannelsMax)
      .u32(kFrameBytesMax)
      .u16(0)
      .append_frame(out, kConnection);
  AmqpWriter(kConnectionOpen).short_text("/").short_text("").u8(0).append_frame(out, kConnection);
}

void append_declare(std::string& out, const Task& task) {
  AmqpWriter arguments;
  arguments.short_text("x-queue-type").u8('S').long_text("quorum");
  AmqpWriter(kQueueDeclare)
      .u16(0)
      .short_text(task.queue)
      .u8(kDurable)
      .long_text(arguments.bytes())
      .append_frame(out, kChannel);
}

void append_role(std::string& out, const Task& task) {
  if (task.role == Role::producer) {
    AmqpWriter(kConfirmSelect).u8(0).append_frame(out, kChannel);
  } else {
    const auto prefetch = static_cast<std::uint16_t>(kPrefetchBatches * task.receive_batch);
    AmqpWriter(kBasicQos).u32(0).u16(prefetch).u8(0).append_frame(out, kChannel);
  }
}

void append_consume(std::string& out, const Task& task) {
  AmqpWriter(kBasicConsume)
      .u16(0)
      .short_text(task.queue)
      .short_text("c" + std::to_string(task.number))
      .u8(0)
      .long_text("")
      .append_frame(out, kChannel);
}

// close: u16 code, short text, …
std::unexpected<Error> closed(AmqpReader& reader) {
  reader.number(2);
  return unwelcome("RabbitMQ", reader.short_text());
}

}  // namespace

AmqpClient::AmqpClient(const Task& task) : task_(task), send_(send_frames(task)) {}

Result<Progress> AmqpClient::greet(std::string& in, std::string& out) {
  if (!greeted_) out += "AMQP\0\0\x09\x01"sv;
  greeted_ = true;
  while (const auto frame = TRY(parse_amqp(in))) {
    const Progress progress = TRY(greet_step(frame->payload, out));
    in.erase(0, frame->size);
    if (progress == Progress::done) return progress;
  }
  return Progress::under_way;
}

Result<Progress> AmqpClient::greet_step(std::string_view payload, std::string& out) const {
  AmqpReader reader(payload);
  switch (reader.number(4)) {
    case kConnectionStart:
      append_login(out);
      return Progress::under_way;
    case kConnectionTune:
      append_open(out);
      return Progress::under_way;
    case kConnectionOpenOk:
      AmqpWriter(kChannelOpen).short_text("").append_frame(out, kChannel);
      return Progress::under_way;
    case kChannelOpenOk:
      append_declare(out, task_);
      return Progress::under_way;
    case kQueueDeclareOk:
      append_role(out, task_);
      return Progress::under_way;
    case kBasicQosOk:
      append_consume(out, task_);
      return Progress::under_way;
    case kConfirmSelectOk:
    case kBasicConsumeOk:
      return Progress::done;
    default:
      return closed(reader);
  }
}

void AmqpClient::send(std::string& out, Nanos sent) {
  phase_ = Phase::sending;
  for (int i = 0; i < task_.batch; ++i) unconfirmed_.push_back(++published_);
  send_.append_to(out, sent);
}

Progress AmqpClient::receive(std::string&) {
  received_ = std::exchange(waiting_, {});
  if (!received_.empty()) return Progress::done;
  phase_ = Phase::receiving;
  return Progress::under_way;
}

Progress AmqpClient::remove(std::string& out) {
  const auto tag = parse_int<std::uint64_t>(received_.back().handle);
  assert(tag);
  AmqpWriter(kBasicAck).u64(*tag).u8(1).append_frame(out, kChannel);  // Including all before it.
  return Progress::done;
}

Result<Progress> AmqpClient::take(std::string& in, std::string&) {
  std::size_t taken = 0;
  while (const auto frame = TRY(parse_amqp(std::string_view(in).substr(taken)))) {
    RETURN_IF_ERROR(take_one(*frame));
    taken += frame->size;
  }
  in.erase(0, taken);
  if (!is_complete()) return Progress::under_way;
  phase_ = Phase::idle;
  return Progress::done;
}

bool AmqpClient::is_complete() {
  if (phase_ == Phase::sending) return unconfirmed_.empty();
  if (phase_ != Phase::receiving) return false;
  received_ = std::exchange(waiting_, {});
  return !received_.empty();
}

Result<void> AmqpClient::take_one(const AmqpFrame& frame) {
  if (frame.type == AmqpFrame::method) return take_method(frame.payload);
  if (frame.type == AmqpFrame::header) take_header(frame.payload);
  if (frame.type == AmqpFrame::body) take_body(frame.payload);
  return {};
}

Result<void> AmqpClient::take_method(std::string_view payload) {
  AmqpReader reader(payload);
  switch (reader.number(4)) {
    case kBasicAck: {
      const std::uint64_t tag = reader.number(8);
      confirm(tag, (reader.number(1) & 1) != 0);
      return {};
    }
    case kBasicDeliver:
      reader.short_text();
      delivered_ = reader.number(8);
      return {};
    case kBasicNack:
      return unwelcome("RabbitMQ", "nack: a message was not stored");
    case kConnectionClose:
    case kChannelClose:
      return closed(reader);
    default:
      return {};
  }
}

void AmqpClient::confirm(std::uint64_t tag, bool multiple) {
  std::erase_if(unconfirmed_,
                [&](std::uint64_t mine) { return multiple ? mine <= tag : mine == tag; });
}

// u16 class, u16 weight, u64 size of the body, …
void AmqpClient::take_header(std::string_view payload) {
  AmqpReader reader(payload);
  reader.number(4);
  body_bytes_missing_ = reader.number(8);
  body_start_.clear();
}

void AmqpClient::take_body(std::string_view payload) {
  body_start_ += payload.substr(0, kStampDigits);
  body_bytes_missing_ -= std::min<std::uint64_t>(body_bytes_missing_, payload.size());
  if (body_bytes_missing_ > 0) return;
  waiting_.push_back({.handle = std::to_string(delivered_), .sent = stamp_of(body_start_)});
}

}  // namespace redrive::bench
