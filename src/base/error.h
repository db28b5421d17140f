#pragma once

#include <cstdint>
#include <string>

namespace redrive {

// Every way a request can fail. The sqs module maps each code to its name and status on the wire.
enum class ErrorCode : std::uint8_t {
  queue_does_not_exist,
  queue_name_exists,
  queue_deleted_recently,
  invalid_parameter_value,
  missing_parameter,
  invalid_attribute_name,
  invalid_attribute_value,
  invalid_message_contents,
  receipt_handle_is_invalid,
  message_not_inflight,
  too_many_entries_in_batch_request,
  empty_batch_request,
  batch_entry_ids_not_distinct,
  invalid_batch_entry_id,
  batch_request_too_long,
  purge_queue_in_progress,
  over_limit,
  unsupported_operation,
  resource_not_found,
  request_throttled,
  access_denied,
  missing_authentication_token,
  incomplete_signature,
  invalid_client_token_id,
  signature_does_not_match,
  invalid_action,     // Query: the action is unknown or not for this endpoint.
  unknown_operation,  // JSON: the target is unknown. Query: no action at all (404).
  malformed_request,  // The body cannot be parsed in the protocol it claims.
  request_too_large,
  service_unavailable,  // Disk full or shutting down: try again later.
  internal_failure,     // The journal or the disk failed during a request.
  storage_damaged,      // Start-up and tools: bytes on disk differ from what was written.
  storage_foreign,      // Start-up: the directory is not ours, or has another version.
  storage_locked,       // Start-up: another process has locked the directory.
  storage_io,           // A file operation failed; the message names the file.
  storage_full,         // No space left on the device.
  usage,                // Command line or configuration.
  network,              // Outgoing HTTP failed before a response arrived.
};

struct Error {
  ErrorCode code;
  std::string message;

  bool operator==(const Error&) const = default;
};

}  // namespace redrive
