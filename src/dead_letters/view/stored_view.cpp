#include "dead_letters/view/stored_view.h"

#include <algorithm>

#include "core/queue/isolation.h"
#include "dead_letters/triage/fingerprint.h"

namespace redrive::dead_letters {

const queue::ErrorText* last_error(const queue::State& state, queue::Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return nullptr;
  const auto error_at = [&](std::size_t at) {
    return state.errors().find(history->attempts[at].error);
  };
  const auto telling =
      queue::telling_attempt(*history, state.messages()[slot].receive_count, [&](std::size_t at) {
        return error_at(at) != nullptr;
      });
  return telling ? error_at(*telling) : nullptr;
}

void prefer_judged_alone(const queue::State& state, std::vector<queue::Slot>& slots) {
  const auto alone = [&](queue::Slot slot) {
    const queue::History* history = state.messages().history_if(slot);
    if (history == nullptr) return false;
    return std::ranges::any_of(
        history->recent(state.messages()[slot].receive_count), [](const queue::Attempt& attempt) {
          return attempt.end == queue::AttemptEnd::failed && !attempt.is_shared();
        });
  };
  const auto judged = std::ranges::stable_partition(slots, alone);
  if (judged.begin() != slots.begin()) slots.erase(judged.begin(), judged.end());
}

KnownMessage known_of(const queue::State& state, queue::Slot slot) {
  KnownMessage known{.receive_count = state.messages()[slot].receive_count};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return known;
  known.message_id = history->message_id;
  known.sent_wall = history->sent_wall;
  known.redrives = history->redrives;
  if (const auto* group = state.find_group(history->group)) {
    known.group_id = triage::GroupId{group->identity.id}.text();
  }
  if (history->dead_letter_source != queue::NameIndex::none) {
    known.source_arn = state.name(history->dead_letter_source);
  }
  if (const queue::ErrorText* error = last_error(state, slot)) {
    known.error_type = error->type;
    known.error_message = error->message;
  }
  return known;
}

triage::MessageView StoredView::features(const Delivery& delivery) {
  consumer_ = queue::parse_consumer_name(delivery.consumer);
  triage::MessageContext context{.consumer = consumer_.name,
                                 .host = consumer_.address,
                                 .code_version = consumer_.code_version(),
                                 .sent = stored_.sent_wall,
                                 .first_attempt = {}};
  if (delivery.first_attempt != Timestamp()) context.first_attempt = delivery.first_attempt;
  return {.body = stored_.contents.body,
          .attributes = attributes_,
          .has_group = !stored_.contents.group.empty(),
          .context = context};
}

triage::Subject StoredView::subject(const Peeked& peeked) {
  known_ = {.receive_count = peeked.receive_count,
            .group_id = peeked.failure_group,
            .source_arn = peeked.dead_letter_source};
  if (peeked.history) {
    known_.message_id = peeked.history->message_id;
    known_.sent_wall = peeked.history->sent_wall;
    known_.redrives = peeked.history->redrives;
  }
  if (!peeked.history) return subject(known_);
  const auto telling =
      queue::telling_attempt(*peeked.history, peeked.receive_count, [&](std::size_t at) {
        return at < peeked.errors.size() && peeked.errors[at].bytes() != 0;
      });
  if (telling) {
    known_.error_type = peeked.errors[*telling].type;
    known_.error_message = peeked.errors[*telling].message;
  }
  return subject(known_);
}

// The subject views `known`.
triage::Subject StoredView::subject(const KnownMessage& known) {
  lineage_id_ = message_id_ = stored_.message_id.text();
  if (known.message_id) message_id_ = known.message_id->text();
  const std::string_view source = known.source_arn;
  return {.body = stored_.contents.body,
          .attributes = attributes_,
          .message_id = message_id_,
          .lineage_id = lineage_id_,
          .group_id = known.group_id,
          .message_group = stored_.contents.group,
          .error_type = known.error_type,
          .error_message = known.error_message,
          .source_queue = source.substr(source.rfind(':') + 1),
          .sent = known.sent_wall != Timestamp() ? known.sent_wall : stored_.sent_wall,
          .receive_count = known.receive_count,
          .redrive_count = known.redrives};
}

}  // namespace redrive::dead_letters
