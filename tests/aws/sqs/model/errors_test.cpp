#include "aws/sqs/model/errors.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::sqs {
namespace {

// The pairs of the reference: suffix of __type, Query code, status.
TEST(ErrorTable, HasThePairsClientsKnow) {
  const std::string prefix = "AWS.SimpleQueueService.";
  const struct {
    ErrorCode code;
    std::string_view suffix;
    std::string query_code;
    int status;
  } rows[] = {
      {ErrorCode::queue_does_not_exist, "QueueDoesNotExist", prefix + "NonExistentQueue", 400},
      {ErrorCode::queue_name_exists, "QueueNameExists", "QueueAlreadyExists", 400},
      {ErrorCode::queue_deleted_recently,
       "QueueDeletedRecently",
       prefix + "QueueDeletedRecently",
       400},
      {ErrorCode::invalid_parameter_value,
       "InvalidParameterValueException",
       "InvalidParameterValue",
       400},
      {ErrorCode::missing_parameter, "MissingRequiredParameterException", "MissingParameter", 400},
      {ErrorCode::invalid_attribute_name, "InvalidAttributeName", "InvalidAttributeName", 400},
      {ErrorCode::invalid_attribute_value, "InvalidAttributeValue", "InvalidAttributeValue", 400},
      {ErrorCode::invalid_message_contents,
       "InvalidMessageContents",
       "InvalidMessageContents",
       400},
      {ErrorCode::receipt_handle_is_invalid,
       "ReceiptHandleIsInvalid",
       "ReceiptHandleIsInvalid",
       404},
      {ErrorCode::message_not_inflight, "MessageNotInflight", prefix + "MessageNotInflight", 400},
      {ErrorCode::too_many_entries_in_batch_request,
       "TooManyEntriesInBatchRequest",
       prefix + "TooManyEntriesInBatchRequest",
       400},
      {ErrorCode::empty_batch_request, "EmptyBatchRequest", prefix + "EmptyBatchRequest", 400},
      {ErrorCode::batch_entry_ids_not_distinct,
       "BatchEntryIdsNotDistinct",
       prefix + "BatchEntryIdsNotDistinct",
       400},
      {ErrorCode::invalid_batch_entry_id,
       "InvalidBatchEntryId",
       prefix + "InvalidBatchEntryId",
       400},
      {ErrorCode::batch_request_too_long,
       "BatchRequestTooLong",
       prefix + "BatchRequestTooLong",
       400},
      {ErrorCode::purge_queue_in_progress,
       "PurgeQueueInProgress",
       prefix + "PurgeQueueInProgress",
       403},
      {ErrorCode::over_limit, "OverLimit", "OverLimit", 403},
      {ErrorCode::unsupported_operation,
       "UnsupportedOperation",
       prefix + "UnsupportedOperation",
       400},
      {ErrorCode::resource_not_found,
       "ResourceNotFoundException",
       "ResourceNotFoundException",
       404},
      {ErrorCode::request_throttled, "RequestThrottled", "RequestThrottled", 403},
      {ErrorCode::access_denied, "AccessDeniedException", "AccessDenied", 403},
      {ErrorCode::missing_authentication_token,
       "MissingAuthenticationTokenException",
       "MissingAuthenticationToken",
       403},
      {ErrorCode::incomplete_signature, "IncompleteSignatureException", "IncompleteSignature", 400},
      {ErrorCode::invalid_client_token_id,
       "UnrecognizedClientException",
       "InvalidClientTokenId",
       403},
      {ErrorCode::signature_does_not_match,
       "InvalidSignatureException",
       "SignatureDoesNotMatch",
       403},
      {ErrorCode::malformed_request, "SerializationException", "InvalidParameterValue", 400},
      {ErrorCode::service_unavailable, "ServiceUnavailable", "ServiceUnavailable", 503},
      {ErrorCode::internal_failure, "InternalFailure", "InternalError", 500},
      {ErrorCode::storage_io, "InternalFailure", "InternalError", 500},
      {ErrorCode::network, "InternalFailure", "InternalError", 500},
  };
  for (const auto& each : rows) {
    SCOPED_TRACE(each.suffix);
    const ErrorRow& row = error_row(each.code);
    EXPECT_EQ(row.json_type.substr(row.json_type.find('#') + 1), each.suffix);
    EXPECT_EQ(row.query_code, each.query_code);
    EXPECT_EQ(row.json_status, each.status);
    EXPECT_EQ(row.query_status, each.status);
    EXPECT_EQ(row.fault, each.status >= 500 ? Fault::receiver : Fault::sender);
  }
}

TEST(ErrorTable, PutsTheFrameworksErrorsInItsNamespace) {
  EXPECT_EQ(error_row(ErrorCode::over_limit).json_type, "com.amazonaws.sqs#OverLimit");
  EXPECT_EQ(error_row(ErrorCode::missing_parameter).json_type,
            "com.amazon.coral.service#MissingRequiredParameterException");
}

// JSON answers an unknown target with 400, Query a missing action with 404.
TEST(ErrorTable, KnowsTheOneStatusThatDiffers) {
  const ErrorRow& row = error_row(ErrorCode::unknown_operation);
  EXPECT_EQ(row.json_type, "com.amazon.coral.service#UnknownOperationException");
  EXPECT_EQ(row.json_status, 400);
  EXPECT_EQ(row.query_status, 404);
}

}  // namespace
}  // namespace redrive::sqs
