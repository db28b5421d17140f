#include "aws/sqs/model/errors.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace redrive::sqs {
namespace {

using enum ErrorCode;
using enum Fault;

// Errors that SQS models, errors of the framework around it, and codes that kept a prefix in Query.
#define SQS(name) "com.amazonaws.sqs#" name
#define CORAL(name) "com.amazon.coral.service#" name
#define PREFIXED(name) "AWS.SimpleQueueService." name

// clang-format off
constexpr std::array kErrors = {
    ErrorRow{queue_does_not_exist, 400, 400, sender,
             SQS("QueueDoesNotExist"), PREFIXED("NonExistentQueue")},
    ErrorRow{queue_name_exists, 400, 400, sender,
             SQS("QueueNameExists"), "QueueAlreadyExists"},
    ErrorRow{queue_deleted_recently, 400, 400, sender,
             SQS("QueueDeletedRecently"), PREFIXED("QueueDeletedRecently")},
    ErrorRow{invalid_parameter_value, 400, 400, sender,
             CORAL("InvalidParameterValueException"), "InvalidParameterValue"},
    ErrorRow{missing_parameter, 400, 400, sender,
             CORAL("MissingRequiredParameterException"), "MissingParameter"},
    ErrorRow{invalid_attribute_name, 400, 400, sender,
             SQS("InvalidAttributeName"), "InvalidAttributeName"},
    ErrorRow{invalid_attribute_value, 400, 400, sender,
             SQS("InvalidAttributeValue"), "InvalidAttributeValue"},
    ErrorRow{invalid_message_contents, 400, 400, sender,
             SQS("InvalidMessageContents"), "InvalidMessageContents"},
    ErrorRow{receipt_handle_is_invalid, 404, 404, sender,
             SQS("ReceiptHandleIsInvalid"), "ReceiptHandleIsInvalid"},
    ErrorRow{message_not_inflight, 400, 400, sender,
             SQS("MessageNotInflight"), PREFIXED("MessageNotInflight")},
    ErrorRow{too_many_entries_in_batch_request, 400, 400, sender,
             SQS("TooManyEntriesInBatchRequest"), PREFIXED("TooManyEntriesInBatchRequest")},
    ErrorRow{empty_batch_request, 400, 400, sender,
             SQS("EmptyBatchRequest"), PREFIXED("EmptyBatchRequest")},
    ErrorRow{batch_entry_ids_not_distinct, 400, 400, sender,
             SQS("BatchEntryIdsNotDistinct"), PREFIXED("BatchEntryIdsNotDistinct")},
    ErrorRow{invalid_batch_entry_id, 400, 400, sender,
             SQS("InvalidBatchEntryId"), PREFIXED("InvalidBatchEntryId")},
    ErrorRow{batch_request_too_long, 400, 400, sender,
             SQS("BatchRequestTooLong"), PREFIXED("BatchRequestTooLong")},
    ErrorRow{purge_queue_in_progress, 403, 403, sender,
             SQS("PurgeQueueInProgress"), PREFIXED("PurgeQueueInProgress")},
    ErrorRow{over_limit, 403, 403, sender,
             SQS("OverLimit"), "OverLimit"},
    ErrorRow{unsupported_operation, 400, 400, sender,
             SQS("UnsupportedOperation"), PREFIXED("UnsupportedOperation")},
    ErrorRow{resource_not_found, 404, 404, sender,
             SQS("ResourceNotFoundException"), "ResourceNotFoundException"},
    ErrorRow{request_throttled, 403, 403, sender,
             SQS("RequestThrottled"), "RequestThrottled"},
    ErrorRow{access_denied, 403, 403, sender,
             CORAL("AccessDeniedException"), "AccessDenied"},
    ErrorRow{missing_authentication_token, 403, 403, sender,
             CORAL("MissingAuthenticationTokenException"), "MissingAuthenticationToken"},
    ErrorRow{incomplete_signature, 400, 400, sender,
             CORAL("IncompleteSignatureException"), "IncompleteSignature"},
    ErrorRow{invalid_client_token_id, 403, 403, sender,
             CORAL("UnrecognizedClientException"), "InvalidClientTokenId"},
    ErrorRow{signature_does_not_match, 403, 403, sender,
             CORAL("InvalidSignatureException"), "SignatureDoesNotMatch"},
    ErrorRow{invalid_action, 400, 400, sender,
             CORAL("InvalidAction"), "InvalidAction"},
    ErrorRow{unknown_operation, 400, 404, sender,
             CORAL("UnknownOperationException"), "UnknownOperationException"},
    // The header of a JSON answer and the body of a Query answer share the code, hence one that is
    // true of both.
    ErrorRow{malformed_request, 400, 400, sender,
             CORAL("SerializationException"), "InvalidParameterValue"},
    ErrorRow{request_too_large, 413, 413, sender,
             CORAL("RequestEntityTooLargeException"), "RequestEntityTooLarge"},
    ErrorRow{service_unavailable, 503, 503, receiver,
             CORAL("ServiceUnavailable"), "ServiceUnavailable"},
    ErrorRow{internal_failure, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{storage_damaged, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{storage_foreign, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{storage_locked, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{storage_io, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{storage_full, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{usage, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
    ErrorRow{network, 500, 500, receiver,
             CORAL("InternalFailure"), "InternalError"},
};
// clang-format on
#undef SQS
#undef CORAL
#undef PREFIXED

constexpr bool rows_stand_at_their_codes() {
  for (std::size_t i = 0; i < kErrors.size(); ++i) {
    if (kErrors[i].code != static_cast<ErrorCode>(i)) return false;
  }
  return kErrors.back().code == ErrorCode::network;
}
static_assert(rows_stand_at_their_codes(), "one row per ErrorCode, in its order");

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  return kErrors[static_cast<std::size_t>(code)];
}

}  // namespace redrive::sqs
