#include "cli/client/letter.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "cli/client/queue_name.h"

namespace redrive::cli {
namespace {

constexpr std::size_t kBatchEntriesMax = 10;
constexpr std::string_view kEntryIds[kBatchEntriesMax] = {
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

// The end of the letters that fit into one request with `begin`.
std::size_t batch_end(const std::vector<const LetterToSend*>& letters, std::size_t begin) {
  std::size_t bytes = 0;
  std::size_t end = begin;
  while (end < letters.size() && end - begin < kBatchEntriesMax) {
    bytes += letters[end]->letter.size();
    if (end > begin && bytes > archive::kLetterBytesMax) break;
    ++end;
  }
  return end;
}

void note(const sqs::SendMessageBatchOutput& output,
          const std::vector<const LetterToSend*>& letters, std::size_t begin,
          std::vector<SendOutcome>& outcomes) {
  for (const auto& entry : output.successful) {
    const auto place = parse_int<std::size_t>(entry.id);
    if (!place || begin + *place >= letters.size()) continue;
    SendOutcome& outcome = outcomes[begin + *place];
    outcome.confirmed = entry.md5_of_message_body == md5(letters[begin + *place]->letter.body);
    if (!outcome.confirmed) outcome.reason = "the queue stored other bytes than were sent";
  }
  for (const auto& entry : output.failed) {
    const auto place = parse_int<std::size_t>(entry.id);
    if (!place || begin + *place >= letters.size()) continue;
    outcomes[begin + *place] = {.confirmed = false,
                                .may_retry = !entry.sender_fault,
                                .reason = fmt::format("{}: {}", entry.code, entry.message)};
  }
}

}  // namespace

sqs::MessageAttributeValue attribute_value(const archive::LetterAttribute& attribute) {
  sqs::MessageAttributeValue value{.data_type = attribute.data_type};
  if (attribute.is_binary()) {
    value.binary_value = wire::Blob{attribute.value};
  } else {
    value.string_value = attribute.value;
  }
  return value;
}

archive::Letter letter_of(const sqs::ReceivedMessage& message) {
  archive::Letter letter{.message_id = message.message_id.text(),
                         .body = std::string(message.body)};
  for (const auto& [name, value] : message.message_attributes) {
    const std::string_view bytes =
        value.binary_value ? value.binary_value->bytes : value.string_value.value_or("");
    letter.attributes.push_back(
        {std::string(name), std::string(value.data_type), std::string(bytes)});
  }
  for (const auto& [name, value] : message.attributes) {
    letter.system_attributes.emplace_back(name, value);
  }
  return letter;
}

sqs::SendMessageBatchEntry entry_of(std::string_view id, const LetterToSend& sent, bool fifo) {
  sqs::SendMessageBatchEntry entry;
  entry.id = id;
  entry.message_body = sent.letter.body;
  for (const auto& attribute : sent.letter.attributes) {
    entry.message_attributes.emplace_back(attribute.name, attribute_value(attribute));
  }
  std::string_view trace = sent.letter.system_attribute("AWSTraceHeader");
  if (sent.trace) trace = *sent.trace;
  if (!trace.empty()) {
    entry.message_system_attributes.emplace_back(
        "AWSTraceHeader", sqs::MessageAttributeValue{.data_type = "String", .string_value = trace});
  }
  const std::string_view group = sent.letter.system_attribute("MessageGroupId");
  if (!group.empty()) entry.message_group_id = group;
  if (fifo && sent.deduplication) entry.message_deduplication_id = *sent.deduplication;
  if (!fifo && sent.delay_seconds > 0) entry.delay_seconds = sent.delay_seconds;
  return entry;
}

Answer<void> send_letters(Service& service, const std::string& queue_url,
                          const std::vector<const LetterToSend*>& letters,
                          std::vector<SendOutcome>& outcomes) {
  const bool fifo = is_fifo_name(queue_name_of(queue_url));
  outcomes.assign(letters.size(), {.reason = "the response does not include this message"});
  for (std::size_t begin = 0; begin < letters.size();) {
    const std::size_t end = batch_end(letters, begin);
    sqs::SendMessageBatchInput input{.queue_url = queue_url};
    for (std::size_t i = begin; i < end; ++i) {
      input.entries.push_back(entry_of(kEntryIds[i - begin], *letters[i], fifo));
    }
    const auto reply = TRY(service.call<sqs::SendMessageBatch>(input));
    note(*reply, letters, begin, outcomes);
    begin = end;
  }
  return {};
}

bool fits(const triage::Filter& filter, const archive::Letter& letter) {
  std::vector<triage::AttributeView> attributes;
  for (const auto& one : letter.attributes) {
    attributes.push_back({.name = one.name, .data_type = one.data_type, .value = one.value});
  }
  const auto number = [&](std::string_view name) {
    return parse_int<std::int64_t>(letter.system_attribute(name)).value_or(0);
  };
  const std::string_view source = letter.system_attribute("DeadLetterQueueSourceArn");
  return filter.matches(
      {.body = letter.body,
       .attributes = attributes,
       .message_id = letter.message_id,
       .lineage_id = letter.message_id,
       .group_id = {},
       .message_group = letter.system_attribute("MessageGroupId"),
       .error_type = {},
       .error_message = {},
       .source_queue = source.empty() ? source : queue_name_of(source),
       .sent = Timestamp(number("SentTimestamp")),
       .receive_count = static_cast<std::uint64_t>(number("ApproximateReceiveCount"))});
}

}  // namespace redrive::cli
