#pragma once

#include "aws/sqs/model/types.h"

// Dead letters edited, discarded and restored.

namespace redrive::documents {

struct EditRequest {
  std::optional<std::string_view> body;  // At most one of this and the next.
  std::string_view patch;                // JSON Patch for the body.
  sqs::MessageAttributes set_attributes;
  std::vector<std::string_view> remove_attributes;
  std::optional<std::string_view> trace_header;  // AWSTraceHeader.
  std::string_view reason;
  std::optional<bool> redrive;   // In the same step: back to the source, or to `destination`.
  std::string_view destination;  // A queue's name or ARN.
};
consteval auto shape_of(EditRequest*) {
  using In = EditRequest;
  return wire::shape(
      wire::optional("body", &In::body).content(),
      wire::optional("patch", &In::patch),
      wire::optional("setAttributes", &In::set_attributes).each("attribute").content(),
      wire::optional("removeAttributes", &In::remove_attributes).each("name"),
      wire::optional("traceHeader", &In::trace_header),
      wire::optional("reason", &In::reason),
      wire::optional("redrive", &In::redrive),
      wire::optional("destination", &In::destination));
}

// Selects messages: by keys, or by group and filter.
struct Choice {
  std::vector<std::int64_t> keys;
  std::string_view group;
  std::string_view filter;
  std::optional<bool> all;
  std::string_view reason;
};
consteval auto shape_of(Choice*) {
  using In = Choice;
  return wire::shape(wire::optional("keys", &In::keys).each("key"),
                     wire::optional("group", &In::group),
                     wire::optional("filter", &In::filter),
                     wire::optional("all", &In::all),
                     wire::optional("reason", &In::reason));
}

// A handler ran on a copy of a message.
struct TriedRequest {
  std::string_view code;     // What ran: a function with its version, or a directory.
  std::string_view outcome;  // How it ended, in words.
};
consteval auto shape_of(TriedRequest*) {
  return wire::shape(wire::required("code", &TriedRequest::code).filled(),
                     wire::required("outcome", &TriedRequest::outcome).filled());
}

struct Touched {
  std::int64_t messages = 0;  // How many were changed.
  bool more = false;          // There may be more: repeat the request.
};
consteval auto shape_of(Touched*) {
  return wire::shape(wire::required("messages", &Touched::messages),
                     wire::required("more", &Touched::more));
}

struct PurgeRequest {
  std::string_view confirm;  // The queue's name.
};
consteval auto shape_of(PurgeRequest*) {
  return wire::shape(wire::required("confirm", &PurgeRequest::confirm));
}

}  // namespace redrive::documents
