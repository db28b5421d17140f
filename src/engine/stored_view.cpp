#include "engine/stored_view.h"

#include <ranges>

#include "dead_letter/fingerprint.h"

namespace redrive::engine {

const queue::ErrorText* last_error(const queue::State& state, queue::Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return nullptr;
  for (const queue::Attempt& attempt : std::views::reverse(history->attempts)) {
    if (const auto* error = state.errors().find(attempt.error)) return error;
  }
  return nullptr;
}

dead_letter::Subject StoredView::subject(const queue::State& state, queue::Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  std::string_view source;
  group_id_.clear();
  if (history != nullptr) {
    if (const auto* group = state.find_group(history->group)) {
      group_id_ = dead_letter::GroupId{group->identity.id}.text();
    }
    if (history->dead_letter_source != queue::NameIndex::none) {
      source = state.name(history->dead_letter_source);
    }
  }
  return subject(history, state.messages()[slot].receive_count, last_error(state, slot), source);
}

dead_letter::Subject StoredView::subject(const Peeked& peeked) {
  const queue::ErrorText* error = nullptr;
  for (const queue::ErrorText& known : peeked.errors) {
    if (known.bytes() > 0) error = &known;
  }
  group_id_ = peeked.failure_group;
  return subject(peeked.history ? &*peeked.history : nullptr,
                 peeked.receive_count,
                 error,
                 peeked.dead_letter_source);
}

dead_letter::Subject StoredView::subject(const queue::History* history, std::uint32_t receive_count,
                                         const queue::ErrorText* error,
                                         std::string_view source_arn) {
  lineage_id_ = message_id_ = stored_.message_id.text();
  if (history != nullptr && history->message_id) message_id_ = history->message_id->text();
  const bool sent_anew = history != nullptr && history->sent_wall != Timestamp();
  return {.body = stored_.contents.body,
          .attributes = attributes_,
          .message_id = message_id_,
          .lineage_id = lineage_id_,
          .group_id = group_id_,
          .message_group = stored_.contents.group,
          .error_type = error == nullptr ? std::string_view() : error->type,
          .error_message = error == nullptr ? std::string_view() : error->message,
          .source_queue = source_arn.substr(source_arn.rfind(':') + 1),
          .sent = sent_anew ? history->sent_wall : stored_.sent_wall,
          .receive_count = receive_count,
          .redrive_count = history == nullptr ? 0u : history->redrives};
}

}  // namespace redrive::engine
