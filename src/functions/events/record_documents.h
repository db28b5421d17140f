#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace redrive::events {

// Records of invocations that are sent to destinations.

// How an invocation ended, as seen by its caller.
struct InvocationOutcome {
  int status = 200;
  std::string_view executed_version = "$LATEST";
  bool function_error = false;
  std::string_view payload;  // JSON; empty: the function did not respond.
};

// Record of one asynchronous event. `condition`: Success, RetriesExhausted, EventAgeExceeded.
struct AsyncRecord {
  Timestamp wall;
  std::string_view request_id;
  std::string_view function_arn;  // Qualified.
  std::string_view condition;
  std::uint32_t invoke_count = 0;
  std::string_view request_payload;  // JSON.
  InvocationOutcome outcome;
};
std::string write_async_record(const AsyncRecord& record);

// Record of messages that a mapping has finished with. `condition`: Success,
// RetryAttemptsExhausted, RecordAgeExceeded.
struct BatchRecord {
  Timestamp wall;
  std::string_view request_id;
  std::string_view function_arn;  // As mapped.
  std::string_view condition;
  std::uint32_t invoke_count = 0;
  std::optional<InvocationOutcome> outcome;  // nullopt if only the age decided.
  bool reported_by_item = false;             // The function finished and reported the message.
  std::string_view queue_arn;
  std::span<const std::string_view> message_ids;
  Timestamp first_arrival;  // Wall.
  Timestamp last_arrival;
  // JSON as written by append_record: messages are deleted from the queue, so the record contains
  // them.
  std::span<const std::string_view> records;
};
std::string write_batch_record(const BatchRecord& record);

// The object key of such a record in a bucket.
std::string async_record_key(std::string_view function_name, Timestamp wall, std::string_view uuid);
std::string batch_record_key(std::string_view mapping_uuid, std::string_view queue_name,
                             Timestamp wall, std::string_view uuid);

}  // namespace redrive::events
