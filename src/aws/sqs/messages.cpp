// SendMessageBatch; DeleteMessage, ChangeMessageVisibility and their batches.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "aws/sqs/draft.h"
#include "aws/sqs/model/errors.h"
#include "aws/sqs/operations.h"
#include "aws/sqs/receive_message.h"

namespace redrive::sqs {
namespace {

constexpr std::size_t kBatchMax = 10;
constexpr std::size_t kBatchBytesMax = queue::kMessageBytesMax;
constexpr std::size_t kKeptTailBytes = 8192;

bool is_entry_id(std::string_view id) {
  return !id.empty() && id.size() <= 80 && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// Errors of a whole batch.
template <class Entry>
Result<void> check_batch(const std::vector<Entry>& entries, std::string_view entry_name) {
  if (entries.empty()) {
    return fail(ErrorCode::empty_batch_request,
                fmt::format("There should be at least one {} in the request.", entry_name));
  }
  if (entries.size() > kBatchMax) {
    return fail(ErrorCode::too_many_entries_in_batch_request,
                fmt::format("Maximum number of entries per request are 10. You have sent {}.",
                            entries.size()));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!is_entry_id(entries[i].id)) {
      return fail(ErrorCode::invalid_batch_entry_id,
                  "A batch entry id can only contain alphanumeric characters, hyphens and "
                  "underscores. It can be at most 80 "
                  "letters long.");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (entries[j].id != entries[i].id) continue;
      return fail(ErrorCode::batch_entry_ids_not_distinct,
                  fmt::format("Id {} repeated.", entries[i].id));
    }
  }
  return {};
}

BatchResultErrorEntry failed_entry(Call& call, std::string_view id, const Error& error) {
  const ErrorRow& row = error_row(error.code);
  return {.id = id,
          .sender_fault = row.fault == Fault::sender,
          .code = row.query_code,
          .message = call.keep(error.message)};
}

OutgoingMessage outgoing(const SendMessageBatchEntry& entry) {
  return {.body = entry.message_body.value_or(""),
          .delay_seconds = entry.delay_seconds,
          .attributes = entry.message_attributes,
          .system_attributes = entry.message_system_attributes,
          .dedup_id = entry.message_deduplication_id,
          .group_id = entry.message_group_id};
}

// Errors of a whole batch: rules of FIFO queues, and the total size.
Result<void> check_send_batch(const std::vector<SendMessageBatchEntry>& entries,
                              const queue::QueueSettings& settings) {
  std::size_t total = 0;
  for (const auto& entry : entries) total += message_bytes(outgoing(entry));
  if (total > kBatchBytesMax) {
    return fail(
        ErrorCode::batch_request_too_long,
        fmt::format("Batch requests cannot be longer than {} bytes. You have sent {} bytes.",
                    kBatchBytesMax,
                    total));
  }
  if (!settings.fifo) return {};
  for (const auto& entry : entries) {
    if (!entry.message_group_id) {
      return fail(ErrorCode::invalid_parameter_value,
                  "The request must contain the parameter MessageGroupId.");
    }
    if (!entry.message_deduplication_id && !settings.fifo->content_based_dedup) {
      return fail(ErrorCode::invalid_parameter_value,
                  "The queue should either have ContentBasedDeduplication enabled or "
                  "MessageDeduplicationId provided explicitly");
    }
  }
  return {};
}

// Reused from batch to batch, so that a busy thread does not allocate; memory of large messages is
// freed with the next batch.
std::span<PreparedMessage> batch_room() {
  thread_local std::array<PreparedMessage, kBatchMax> room;
  for (PreparedMessage& prepared : room) {
    if (prepared.tail.capacity() > kKeptTailBytes) prepared.tail = std::string();
  }
  return room;
}

}  // namespace

Result<SendMessageBatchOutput> run(Call& call, const SendMessageBatchInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  const auto found = TRY(call.find(input.queue_url));
  const queue::QueueSettings& settings = *found.settings;
  RETURN_IF_ERROR(check_batch(input.entries, "SendMessageBatchRequestEntry"));
  RETURN_IF_ERROR(check_send_batch(input.entries, settings));

  SendMessageBatchOutput output;
  const auto prepared = batch_room();
  std::array<std::string_view, kBatchMax> bodies;
  std::array<std::size_t, kBatchMax> entry_of;
  std::size_t good = 0;
  for (std::size_t i = 0; i < input.entries.size(); ++i) {
    const OutgoingMessage message = outgoing(input.entries[i]);
    const auto checked = check_message(message, settings, SendForm::batch_entry);
    if (!checked) {
      output.failed.push_back(failed_entry(call, input.entries[i].id, checked.error()));
      continue;
    }
    prepare_message({.id = call.sender_id, .trace = call.trace}, message, settings, prepared[good]);
    bodies[good] = prepared[good].body;
    entry_of[good++] = i;
  }
  if (good == 0) return output;
  std::array<Md5, kBatchMax> digests;
  md5_many(std::span(bodies).first(good), std::span(digests).first(good));
  std::array<queue::Draft, kBatchMax> drafts;
  for (std::size_t i = 0; i < good; ++i) {
    set_digest(prepared[i], digests[i]);
    drafts[i] = prepared[i].draft;
  }
  const auto sent = TRY(call.engine.send(identity, std::span(drafts).first(good)));
  call.after = sent.after;
  output.successful.reserve(good);
  for (std::size_t i = 0; i < good; ++i) {
    SendMessageBatchResultEntry entry{
        .id = input.entries[entry_of[i]].id,
        .message_id = sent.outcomes[i].message_id,
        .md5_of_message_body = digests[i],
        .md5_of_message_attributes = prepared[i].md5_of_attributes,
        .md5_of_message_system_attributes = prepared[i].md5_of_system_attributes,
        .sequence_number = std::nullopt};
    if (settings.fifo) entry.sequence_number = call.keep(sequence_text(sent.outcomes[i].sequence));
    output.successful.push_back(entry);
  }
  return output;
}

Result<DeleteMessageOutput> run(Call& call, const DeleteMessageInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  const auto results = TRY(call.engine.remove(identity, std::span(&input.receipt_handle, 1)));
  RETURN_IF_ERROR(results[0]);
  return DeleteMessageOutput{};
}

Result<DeleteMessageBatchOutput> run(Call& call, const DeleteMessageBatchInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  RETURN_IF_ERROR(call.find(input.queue_url));
  RETURN_IF_ERROR(check_batch(input.entries, "DeleteMessageBatchRequestEntry"));
  std::vector<std::string_view> handles;
  for (const auto& entry : input.entries) handles.push_back(entry.receipt_handle);
  const auto results = TRY(call.engine.remove(identity, handles));
  DeleteMessageBatchOutput output;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i]) {
      output.successful.push_back({input.entries[i].id});
    } else {
      output.failed.push_back(failed_entry(call, input.entries[i].id, results[i].error()));
    }
  }
  return output;
}

Result<ChangeMessageVisibilityOutput> run(Call& call, const ChangeMessageVisibilityInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  const engine::Engine::VisibilityRequest request{input.receipt_handle,
                                                  std::chrono::seconds(input.visibility_timeout)};
  const auto results = TRY(call.engine.change_visibility(identity, std::span(&request, 1)));
  RETURN_IF_ERROR(results[0]);
  return ChangeMessageVisibilityOutput{};
}

Result<ChangeMessageVisibilityBatchOutput> run(Call& call,
                                               const ChangeMessageVisibilityBatchInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  RETURN_IF_ERROR(call.find(input.queue_url));
  RETURN_IF_ERROR(check_batch(input.entries, "ChangeMessageVisibilityBatchRequestEntry"));
  ChangeMessageVisibilityBatchOutput output;
  std::vector<engine::Engine::VisibilityRequest> requests;
  std::vector<std::string_view> ids;
  for (const auto& entry : input.entries) {
    const std::int32_t timeout = entry.visibility_timeout.value_or(-1);
    if (timeout >= 0 && timeout <= queue::kVisibilityTimeoutMax.count()) {
      requests.push_back({entry.receipt_handle, std::chrono::seconds(timeout)});
      ids.push_back(entry.id);
      continue;
    }
    const Error error = entry.visibility_timeout
                            ? Error{ErrorCode::invalid_parameter_value,
                                    fmt::format("Value {} for parameter VisibilityTimeout is "
                                                "invalid. Reason: VisibilityTimeout must be an "
                                                "integer between 0 and 43200.",
                                                timeout)}
                            : Error{ErrorCode::missing_parameter,
                                    "The request must contain the parameter VisibilityTimeout."};
    output.failed.push_back(failed_entry(call, entry.id, error));
  }
  const auto results = TRY(call.engine.change_visibility(identity, requests));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i]) {
      output.successful.push_back({ids[i]});
    } else {
      output.failed.push_back(failed_entry(call, ids[i], results[i].error()));
    }
  }
  return output;
}

}  // namespace redrive::sqs
