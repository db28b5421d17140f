#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "net/wire/shape.h"

// Messages whose stored bytes cannot be read any more.

namespace redrive::documents {

struct DamagedMessage {
  std::int64_t key = 0;
  std::string_view state = "damaged";
  std::optional<Uuid> message_id;  // Absent if only the damaged bytes contain it.
  std::string_view queue_arn;      // The queue it was in; of what was discarded, its bin.
  std::string_view error;
  std::string_view found_at;
  std::string_view expires_at;  // When it is removed.
  std::int64_t segment = 0;  // Location of its bytes: the number of a file of the data directory,
  std::int64_t offset = 0;   // a place in it,
  std::int64_t size = 0;     // and how many they are.
  std::int64_t receive_count = 0;
  std::optional<std::string_view> group_id;
  std::optional<std::string_view> dead_letter_source;
};
consteval auto shape_of(DamagedMessage*) {
  using Out = DamagedMessage;
  return wire::shape(wire::required("key", &Out::key),
                     wire::required("state", &Out::state),
                     wire::optional("messageId", &Out::message_id),
                     wire::required("queueArn", &Out::queue_arn),
                     wire::required("error", &Out::error),
                     wire::required("foundAt", &Out::found_at),
                     wire::required("expiresAt", &Out::expires_at),
                     wire::required("segment", &Out::segment),
                     wire::required("offset", &Out::offset),
                     wire::required("size", &Out::size),
                     wire::required("receiveCount", &Out::receive_count),
                     wire::optional("groupId", &Out::group_id),
                     wire::optional("deadLetterSource", &Out::dead_letter_source));
}

struct DamagedPage {
  std::string_view now;
  std::int64_t total = 0;  // In all pages together.
  std::vector<DamagedMessage> messages;
  std::optional<std::string_view> next;
};
consteval auto shape_of(DamagedPage*) {
  using Out = DamagedPage;
  return wire::shape(wire::required("now", &Out::now),
                     wire::required("total", &Out::total),
                     wire::optional("messages", &Out::messages).each("message").always(),
                     wire::optional("next", &Out::next));
}

// Selects damaged messages.
struct DamagedChoice {
  std::vector<std::int64_t> keys;
  std::optional<bool> all;
  std::optional<std::string_view> after;  // Of a retry of all: the `next` of the answer before.
};
consteval auto shape_of(DamagedChoice*) {
  using In = DamagedChoice;
  return wire::shape(wire::optional("keys", &In::keys).each("key"),
                     wire::optional("all", &In::all),
                     wire::optional("after", &In::after));
}

struct DamagedRetried {
  std::int64_t restored = 0;
  std::int64_t still_damaged = 0;
  std::optional<std::string_view> next;  // There are more: repeat the request with this as `after`.
};
consteval auto shape_of(DamagedRetried*) {
  using Out = DamagedRetried;
  return wire::shape(wire::required("restored", &Out::restored),
                     wire::required("stillDamaged", &Out::still_damaged),
                     wire::optional("next", &Out::next));
}

struct DamagedCount {
  std::string_view queue;
  std::int64_t messages = 0;
};
consteval auto shape_of(DamagedCount*) {
  return wire::shape(wire::required("queue", &DamagedCount::queue),
                     wire::required("messages", &DamagedCount::messages));
}

// Damaged events of asynchronous invocations.
struct DamagedEventCount {
  std::string_view function;  // With its qualifier: `f`, `f:live`.
  std::int64_t messages = 0;
};
consteval auto shape_of(DamagedEventCount*) {
  return wire::shape(wire::required("function", &DamagedEventCount::function),
                     wire::required("messages", &DamagedEventCount::messages));
}

struct DamagedCounts {
  std::vector<DamagedCount> queues;  // That have any.
  std::vector<DamagedEventCount> functions;
};
consteval auto shape_of(DamagedCounts*) {
  using Out = DamagedCounts;
  return wire::shape(wire::optional("queues", &Out::queues).each("queue").always(),
                     wire::optional("functions", &Out::functions).each("function").always());
}

}  // namespace redrive::documents
