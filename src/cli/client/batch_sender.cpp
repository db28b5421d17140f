#include "cli/client/batch_sender.h"

#include <utility>

#include "base/text.h"

namespace redrive::cli {
namespace {

// Entry ids are their positions in the request.
constexpr std::string_view kIds[BatchPlanner::kEntriesMax] = {
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

std::optional<std::size_t> place_of(std::string_view id, std::size_t size) {
  const auto place = parse_int<std::size_t>(id);
  return place && *place < size ? place : std::nullopt;
}

sqs::SendMessageBatchEntry to_entry(std::string_view id, const OutgoingMessage& message) {
  sqs::SendMessageBatchEntry entry;
  entry.id = id;
  entry.message_body = message.body;
  entry.delay_seconds = message.delay_seconds;
  entry.message_group_id = message.group;
  entry.message_deduplication_id = message.deduplication;
  for (const OutgoingAttribute& attribute : message.attributes) {
    entry.message_attributes.emplace_back(attribute.name, to_value(attribute));
  }
  if (message.trace_header) {
    entry.message_system_attributes.emplace_back(
        "AWSTraceHeader",
        sqs::MessageAttributeValue{.data_type = "String", .string_value = *message.trace_header});
  }
  return entry;
}

}  // namespace

BatchSender::BatchSender(Parts parts) : parts_(std::move(parts)), ids_(parts_.seed) {}

Answer<void> BatchSender::send(const Batch& batch) {
  Open open;
  for (const NumberedMessage& message : batch) open.push_back(&message);
  Backoff backoff(ids_, parts_.sleep);
  while (!open.empty()) {
    sqs::SendMessageBatchInput input{.queue_url = parts_.queue_url};
    for (std::size_t i = 0; i < open.size(); ++i) {
      input.entries.push_back(to_entry(kIds[i], open[i]->message));
    }
    auto reply = parts_.service.call<sqs::SendMessageBatch>(input);
    if (!reply) {
      if (!worth_retrying(reply.error()) || !backoff.again()) return std::unexpected(reply.error());
      continue;
    }
    open = settle(open, **reply, backoff.spent());
    if (!open.empty()) backoff.again();
  }
  return {};
}

BatchSender::Open BatchSender::settle(const Open& open, const sqs::SendMessageBatchOutput& output,
                                      bool last_attempt) {
  Open again;
  std::vector<bool> heard(open.size());
  for (const auto& entry : output.successful) {
    const auto place = place_of(entry.id, open.size());
    if (!place) continue;
    heard[*place] = true;
    parts_.report.accepted(open[*place]->number, entry);
  }
  for (const auto& entry : output.failed) {
    const auto place = place_of(entry.id, open.size());
    if (!place) continue;
    heard[*place] = true;
    if (entry.sender_fault || last_attempt) {
      parts_.report.refused(open[*place]->number, entry);
    } else {
      again.push_back(open[*place]);
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (heard[i]) continue;
    parts_.report.refused(
        open[i]->number,
        {.code = "NoResult", .message = "The response does not include this message."});
  }
  return again;
}

}  // namespace redrive::cli
