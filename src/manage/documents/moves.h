#pragma once

#include "aws/sqs/model/types.h"

// Messages moved to another queue by their consumers.

namespace redrive::documents {

inline constexpr std::size_t kMovesMax = 100;  // In one request.

struct Move {
  std::string_view receipt_handle;
  std::string_view destination;          // A queue's name or ARN; empty: where it failed.
  std::optional<std::string_view> body;  // New contents, as in an edit.
  sqs::MessageAttributes set_attributes;
  std::vector<std::string_view> remove_attributes;
  std::optional<std::string_view> trace_header;
  std::optional<std::int32_t> delay_seconds;

  bool operator==(const Move&) const = default;
};
consteval auto shape_of(Move*) {
  return wire::shape(
      wire::required("receiptHandle", &Move::receipt_handle),
      wire::optional("destination", &Move::destination),
      wire::optional("body", &Move::body).content(),
      wire::optional("setAttributes", &Move::set_attributes).each("attribute").content(),
      wire::optional("removeAttributes", &Move::remove_attributes).each("name"),
      wire::optional("traceHeader", &Move::trace_header),
      wire::optional("delaySeconds", &Move::delay_seconds)
          .between(0, 900, "Must be between 0 and 900."));
}

struct MoveRequest {
  std::vector<Move> moves;
  std::string_view reason;
};
consteval auto shape_of(MoveRequest*) {
  return wire::shape(wire::optional("moves", &MoveRequest::moves).each("move"),
                     wire::optional("reason", &MoveRequest::reason));
}

// Either a message id or what was wrong.
struct MoveResult {
  std::optional<Uuid> message_id;
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(MoveResult*) {
  return wire::shape(wire::optional("messageId", &MoveResult::message_id),
                     wire::optional("code", &MoveResult::code),
                     wire::optional("message", &MoveResult::message));
}

struct MoveResults {
  std::int64_t moved = 0;
  std::vector<MoveResult> results;  // In the order of the moves.
};
consteval auto shape_of(MoveResults*) {
  return wire::shape(wire::required("moved", &MoveResults::moved),
                     wire::optional("results", &MoveResults::results).each("result"));
}

}  // namespace redrive::documents
