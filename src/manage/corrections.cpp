// Dead letters edited, discarded and restored.

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/draft.h"
#include "core/catalogue/queues.h"
#include "core/store/message_codec.h"
#include "dead_letters/triage/json_patch.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kTouchedMax = 10'000;
constexpr std::size_t kBinPage = 1'000;
constexpr std::size_t kTriedBytesMax = 256;

std::unexpected<Error> refuse_choice(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

// The attributes a message has after the edit.
sqs::MessageAttributes edited_attributes(const store::MessageContents& contents,
                                         const documents::EditRequest& input) {
  sqs::MessageAttributes attributes = attributes_of(contents);
  std::erase_if(attributes, [&](const auto& attribute) {
    return std::ranges::find(input.remove_attributes, attribute.first) !=
           input.remove_attributes.end();
  });
  for (const auto& [name, value] : input.set_attributes) {
    const auto found =
        std::ranges::find(attributes, name, &sqs::MessageAttributes::value_type::first);
    found == attributes.end() ? void(attributes.emplace_back(name, value))
                              : void(found->second = value);
  }
  return attributes;
}

Result<std::string> edited_body(const store::MessageContents& contents,
                                const documents::EditRequest& input) {
  if (input.body && !input.patch.empty()) return refuse_choice("Pass `body` or `patch`, not both.");
  if (!input.patch.empty()) {
    return TRY(triage::JsonPatch::parse(input.patch)).apply(contents.body);
  }
  return std::string(input.body.value_or(contents.body));
}

// Where an edited message goes in the same step, if anywhere.
Result<std::optional<queue::QueueIdentity>> destination_of(const Call& call,
                                                           const documents::EditRequest& input,
                                                           const dead_letters::Peeked& message) {
  if (!input.redrive.value_or(!input.destination.empty())) return std::nullopt;
  if (!input.destination.empty()) return TRY(call.destination_called(input.destination));
  if (message.dead_letter_source.empty())
    return refuse_choice("The source queue of the message is unknown: pass a `destination`.");
  return TRY(call.destination_called(message.dead_letter_source));
}

Result<std::vector<queue::MessageKey>> chosen_keys(Call& call, const queue::QueueIdentity& queue,
                                                   const documents::Choice& input) {
  std::vector<queue::MessageKey> keys;
  for (const std::int64_t key : input.keys) {
    if (keys.size() == kTouchedMax) break;
    keys.push_back(static_cast<queue::MessageKey>(key));
  }
  const bool by_contents =
      !input.group.empty() || !input.filter.empty() || input.all.value_or(false);
  if (keys.empty() && !by_contents)
    return refuse_choice("Select messages with `keys`, `group`, `filter` or `all`.");
  if (!keys.empty()) return keys;
  queue::TaskPlan plan{.filter = std::string(input.filter), .include_parked = true};
  if (!input.group.empty()) {
    const auto found = call.parts.engine.turn([&](engine::Turn& turn) -> Result<void> {
      const queue::Queue& source = *TRY(turn.queue(queue));
      plan.group = TRY(find_group(turn.state(), source, input.group))->key;
      return {};
    });
    RETURN_IF_ERROR(found);
  }
  return TRY(call.parts.dead_letters.jobs.choose(queue, plan, SIZE_MAX, kTouchedMax)).keys;
}

// The original of an edited message: it is restored in addition to the edited one only by its key.
bool is_replaced(const dead_letters::Peeked& message) {
  return message.history && !message.history->events.empty() &&
         message.history->events.back().kind == queue::LineageEvent::Kind::replaced;
}

// At most as many as one request may change.
Result<std::vector<queue::MessageKey>> all_in_bin(Call& call, const queue::QueueIdentity& queue) {
  std::vector<queue::MessageKey> keys;
  queue::Mailbox::AgeMark after{};
  bool more = true;
  while (more && keys.size() < kTouchedMax) {
    const auto page = TRY(call.parts.dead_letters.peek.bin_page(queue, after, kBinPage));
    for (const dead_letters::Peeked& message : page.messages) {
      if (!is_replaced(message) && keys.size() < kTouchedMax) keys.push_back(message.mark.key);
      after = message.mark;
    }
    more = page.more;
  }
  return keys;
}

}  // namespace

Result<std::string> edited(const store::StoredMessage& stored, const documents::EditRequest& input,
                           const queue::QueueSettings& settings) {
  const std::string body = TRY(edited_body(stored.contents, input));
  const sqs::MessageAttributes attributes = edited_attributes(stored.contents, input);
  sqs::MessageAttributes system;
  if (input.trace_header) {
    system.emplace_back(
        "AWSTraceHeader",
        sqs::MessageAttributeValue{.data_type = "String", .string_value = *input.trace_header});
  }
  sqs::OutgoingMessage message{.body = body,
                               .delay_seconds = std::nullopt,
                               .attributes = attributes,
                               .system_attributes = system,
                               .dedup_id = std::nullopt,
                               .group_id = std::nullopt};
  if (settings.is_fifo()) {
    message.group_id = stored.contents.group;
    message.dedup_id = stored.contents.dedup;
  }
  RETURN_IF_ERROR(sqs::check_message(message, settings, sqs::SendForm::stored));
  store::MessageContents contents = stored.contents;
  std::string encoded;
  if (body != contents.body) contents.md5_of_body = md5(body);
  contents.body = body;
  if (input.trace_header) contents.trace = *input.trace_header;
  contents.attribute_count = static_cast<std::uint8_t>(attributes.size());
  contents.md5_of_attributes = attributes.empty() ? Md5{} : sqs::md5_of_attributes(attributes);
  for (const auto& [name, value] : attributes) {
    const bool binary = value.binary_value.has_value();
    store::append_attribute(
        encoded,
        {name, value.data_type, binary ? value.binary_value->bytes : *value.string_value, binary});
  }
  contents.attributes = encoded;
  return store::encode_message(stored, contents);
}

Result<documents::Message> edit_message(Call& call, const documents::EditRequest& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  const queue::MessageKey key = TRY(call.message_key("message"));
  const auto page = TRY(call.parts.dead_letters.peek.one(queue, key));
  if (page.messages.empty()) return no_such_message();
  const dead_letters::Peeked& message = page.messages.front();
  std::string bytes;
  const auto stored = call.parts.engine.read_message(key, message.body, bytes);
  if (!stored) return unreadable_message(stored.error());
  const auto settings = call.parts.engine.turn(
      [&](engine::Turn& turn) -> Result<std::shared_ptr<const queue::QueueSettings>> {
        return TRY(turn.queue(queue))->published;
      });
  RETURN_IF_ERROR(settings);
  const std::string changed = TRY(edited(*stored, input, **settings));
  const auto destination = TRY(destination_of(call, input, message));
  const std::string actor = call.actor();
  RETURN_IF_ERROR(call.parts.dead_letters.bin.edit(
      queue,
      {.key = key, .of = message.body, .stored = changed, .destination = destination},
      {.name = actor, .reason = input.reason}));
  return describe_message(call, destination.value_or(queue), key);
}

Result<documents::Touched> note_tried(Call& call, const documents::TriedRequest& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  const queue::MessageKey key = TRY(call.message_key("message"));
  if (input.code.size() > kTriedBytesMax || input.outcome.size() > kTriedBytesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("`code` and `outcome` can have at most {} bytes.", kTriedBytesMax));
  }
  const std::string actor = call.actor();
  const std::string reason = fmt::format("{}: {}", input.code, input.outcome);
  RETURN_IF_ERROR(
      call.parts.dead_letters.bin.note_tried(queue, key, {.name = actor, .reason = reason}));
  return documents::Touched{.messages = 1};
}

Result<documents::Touched> discard_messages(Call& call, const documents::Choice& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  const auto keys = TRY(chosen_keys(call, queue, input));
  const std::string actor = call.actor();
  const std::size_t done = TRY(
      call.parts.dead_letters.bin.discard(queue, keys, {.name = actor, .reason = input.reason}));
  return documents::Touched{static_cast<std::int64_t>(done), keys.size() == kTouchedMax};
}

Result<documents::Touched> restore_messages(Call& call, const documents::Choice& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  std::vector<queue::MessageKey> keys;
  if (input.all.value_or(false)) {
    keys = TRY(all_in_bin(call, queue));
  } else {
    for (const std::int64_t key : input.keys) keys.push_back(static_cast<queue::MessageKey>(key));
  }
  if (keys.empty() && !input.all.value_or(false))
    return refuse_choice("Select messages with `keys` or `all`.");
  const std::string actor = call.actor();
  const std::size_t done =
      TRY(call.parts.dead_letters.bin.restore(queue, keys, {.name = actor, .reason = {}}));
  return documents::Touched{static_cast<std::int64_t>(done), keys.size() == kTouchedMax};
}

Result<documents::Touched> purge_queue(Call& call, const documents::PurgeRequest& input) {
  const queue::QueueIdentity identity = call.queue("queue");
  if (input.confirm != identity.name) {
    return refuse_choice(
        fmt::format("To purge {}, repeat its name in `confirm`. Purged messages do not go to the "
                    "bin and cannot be restored.",
                    identity.name));
  }
  return call.parts.engine.turn([&](engine::Turn& turn) -> Result<documents::Touched> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const auto messages = static_cast<std::int64_t>(turn.state().mailbox(queue).size());
    catalogue::purge_queue(turn, queue);
    return documents::Touched{messages, false};
  });
}

}  // namespace redrive::manage
