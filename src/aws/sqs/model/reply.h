#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "net/wire/encode.h"

// The bodies of answers, appended to `out`. Heads are the caller's; error_row() has the status.
//
// A successful JSON answer is wire::encode_json(out, output), `{}` when the action has no output.

namespace redrive::sqs {

inline constexpr std::string_view kJsonContentType = "application/x-amz-json-1.0";
inline constexpr std::string_view kQueryContentType = "text/xml";

// {"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"..."}
void encode_json_error(std::string& out, const Error& error);
// The value of x-amzn-query-error, "AWS.SimpleQueueService.NonExistentQueue;Sender". Every JSON
// error carries it: clients and tools know the older code better than the type.
void append_query_error_header(std::string& out, const Error& error);
// <ErrorResponse>. Errors carry the words for JSON; a missing queue has other words in Query.
void encode_query_error(std::string& out, const Error& error, std::string_view request_id);

// <{action}Response>, with a Result element if the action has an output at all.
void encode_query_reply(std::string& out, std::string_view action, const wire::Record& record,
                        const void* output, std::string_view request_id);
// The same as JSON, for Query requests that accept application/json:
// {"ListQueuesResponse":{"ListQueuesResult":{"queueUrls":[...]},"ResponseMetadata":{...}}}
// Lists begin with a small letter there, and maps are lists of pairs:
// "Attributes":[{"Name":"DelaySeconds","Value":"0"}].
void encode_query_reply_as_json(std::string& out, std::string_view action,
                                const wire::Record& record, const void* output,
                                std::string_view request_id);

// {"Error":{"Type":"Sender","Code":"...","Message":"...","Detail":null},"RequestId":"..."}
void encode_query_error_as_json(std::string& out, const Error& error, std::string_view request_id);

template <class Action>
void encode_query_reply(std::string& out, const typename Action::Output& output,
                        std::string_view request_id) {
  encode_query_reply(
      out, Action::kName, wire::kRecord<typename Action::Output>, &output, request_id);
}

template <class Action>
void encode_query_reply_as_json(std::string& out, const typename Action::Output& output,
                                std::string_view request_id) {
  encode_query_reply_as_json(
      out, Action::kName, wire::kRecord<typename Action::Output>, &output, request_id);
}

}  // namespace redrive::sqs
