#include "aws/sqs/receive_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/sqs/draft.h"
#include "aws/sqs/queue_attributes.h"
#include "core/store/message_codec.h"

namespace redrive::sqs {
namespace {

enum System : std::uint32_t {
  sender_id,
  sent_timestamp,
  receive_count,
  first_receive,
  sequence_number,
  dedup_id,
  group_id,
  trace_header,
  dead_letter_source,
};

constexpr std::array<std::string_view, 9> kSystemAttributes = {"SenderId",
                                                               "SentTimestamp",
                                                               "ApproximateReceiveCount",
                                                               "ApproximateFirstReceiveTimestamp",
                                                               "SequenceNumber",
                                                               "MessageDeduplicationId",
                                                               "MessageGroupId",
                                                               "AWSTraceHeader",
                                                               "DeadLetterQueueSourceArn"};

Result<void> add_system_names(const StringList& names, std::uint32_t& bits) {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(kSystemAttributes, name);
    if (name == "All") {
      bits = ~0u;
    } else if (found != kSystemAttributes.end()) {
      bits |= 1u << (found - kSystemAttributes.begin());
    } else if (!is_queue_attribute(name)) {  // Names of queue attributes are accepted and ignored.
      return fail(ErrorCode::invalid_attribute_name, fmt::format("Unknown Attribute {}.", name));
    }
  }
  return {};
}

void add_attribute_names(const StringList& names, ReceiveView& view) {
  for (const std::string_view name : names) {
    if (name == "All" || name == "*" || name == ".*") view.all_attributes = true;
    if (name.ends_with(".*")) {
      view.attribute_names.push_back(std::string(name.substr(0, name.size() - 2)) + "*");
    } else {
      view.attribute_names.emplace_back(name);
    }
  }
}

bool wants(const ReceiveView& view, std::string_view attribute) {
  return view.all_attributes ||
         std::ranges::any_of(view.attribute_names, [&](std::string_view name) {
           if (!name.ends_with('*')) return name == attribute;
           return attribute.starts_with(name.substr(0, name.size() - 1));
         });
}

}  // namespace

std::string sequence_text(std::uint64_t sequence) {
  return fmt::format("{}", 10'000'000'000'000'000'000ull + sequence);
}

Result<ReceivePlan> plan_receive(const Call& call, const ReceiveMessageInput& input) {
  ReceivePlan plan;
  plan.queue = TRY(call.queue(input.queue_url));
  RETURN_IF_ERROR(add_system_names(input.attribute_names, plan.view.system_attributes));
  RETURN_IF_ERROR(
      add_system_names(input.message_system_attribute_names, plan.view.system_attributes));
  add_attribute_names(input.message_attribute_names, plan.view);
  plan.request.max = static_cast<std::size_t>(input.max_number_of_messages.value_or(1));
  if (input.visibility_timeout)
    plan.request.visibility = std::chrono::seconds(*input.visibility_timeout);
  if (input.wait_time_seconds) plan.wait = std::chrono::seconds(*input.wait_time_seconds);
  plan.request.consumer = call.consumer();
  if (const auto& attempt = input.receive_request_attempt_id) {
    if (!is_id_text(*attempt)) {
      return fail(
          ErrorCode::invalid_parameter_value,
          fmt::format(
              "Value {} for parameter ReceiveRequestAttemptId is invalid. Reason: "
              "ReceiveRequestAttemptId "
              "can only include alphanumeric and punctuation characters. 1 to 128 in length.",
              *attempt));
    }
    plan.request.attempt_id = *attempt;
  }
  return plan;
}

ReceivedBatch::ReceivedBatch(engine::Engine& engine, const engine::ReceiveOutcome& outcome,
                             const ReceiveView& view, const std::array<std::uint8_t, 16>& secret)
    : secret_(secret) {
  std::size_t total = 0;
  for (const auto& message : outcome.messages) total += message.body.size;
  bytes_ = std::make_unique_for_overwrite<char[]>(total);
  output_.messages.reserve(outcome.messages.size());
  char* at = bytes_.get();
  const bool all_read = engine.read_bodies(outcome, at).has_value();
  for (const auto& message : outcome.messages) {
    const auto stored = all_read ? store::decode_message({at, message.body.size}) : std::nullopt;
    at += message.body.size;
    if (stored && stored->key == message.handle.key) {
      describe(message, *stored, view);
    } else {
      read_again(engine, message, view);
    }
  }
}

// Moves damaged messages out of the queue. Messages that cannot be read for another reason stay and
// are delivered again.
void ReceivedBatch::read_again(engine::Engine& engine, const engine::Received& received,
                               const ReceiveView& view) {
  std::string& bytes = *kept_.emplace_back(std::make_unique<std::string>());
  const auto stored = engine.read_message(received, bytes);
  if (stored) return describe(received, *stored, view);
  if (stored.error().code == ErrorCode::storage_damaged) return;
  faults_.push_back(fmt::format("message {} in segment {} at offset {} cannot be read now: {}",
                                number(received.handle.key),
                                received.body.segment,
                                received.body.offset,
                                stored.error().message));
}

void ReceivedBatch::describe(const engine::Received& received, const store::StoredMessage& stored,
                             const ReceiveView& view) {
  const store::MessageContents& contents = stored.contents;
  ReceivedMessage message;
  message.message_id = received.message_id.value_or(stored.message_id);
  message.receipt_handle = keep(received.handle.seal(secret_));
  message.md5_of_body = contents.md5_of_body;
  message.body = contents.body;

  const auto add = [&](System attribute, auto text) {
    if ((view.system_attributes >> attribute & 1) == 0) return;
    message.attributes.emplace_back(kSystemAttributes[attribute], keep(text()));
  };
  const auto milliseconds = [](Timestamp time) { return std::to_string(time.ms()); };
  const bool fifo = !contents.dedup.empty();
  if (view.system_attributes != 0) {
    const Timestamp sent =
        received.sent_wall == Timestamp() ? stored.sent_wall : received.sent_wall;
    add(System::sender_id, [&] { return std::string(contents.sender); });
    add(System::sent_timestamp, [&] { return milliseconds(sent); });
    add(System::receive_count, [&] { return std::to_string(received.receive_count); });
    add(System::first_receive, [&] { return milliseconds(received.first_received_wall); });
    if (fifo) {
      add(System::sequence_number, [&] { return sequence_text(received.sequence); });
      add(System::dedup_id, [&] {
        return received.dedup_is_message_id ? stored.message_id.text()
                                            : std::string(contents.dedup);
      });
    }
    if (!contents.group.empty()) add(System::group_id, [&] { return std::string(contents.group); });
    if (!contents.trace.empty())
      add(System::trace_header, [&] { return std::string(contents.trace); });
    if (!received.dead_letter_source.empty())
      add(System::dead_letter_source, [&] { return received.dead_letter_source; });
  }
  if (view.all_attributes || !view.attribute_names.empty()) {
    contents.for_each_attribute([&](const store::AttributeView& attribute) {
      if (!wants(view, attribute.name)) return;
      MessageAttributeValue value;
      value.data_type = attribute.type;
      if (attribute.binary) {
        value.binary_value = wire::Blob{attribute.value};
      } else {
        value.string_value = attribute.value;
      }
      message.message_attributes.emplace_back(attribute.name, std::move(value));
    });
    const bool all = message.message_attributes.size() == contents.attribute_count;
    if (!message.message_attributes.empty()) {
      message.md5_of_message_attributes =
          all ? contents.md5_of_attributes : md5_of_attributes(message.message_attributes);
    }
  }
  output_.messages.push_back(std::move(message));
}

}  // namespace redrive::sqs
