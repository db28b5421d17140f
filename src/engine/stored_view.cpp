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
  const queue::Message& message = state.messages()[slot];
  const queue::History* history = state.messages().history_if(slot);
  lineage_id_ = message_id_ = stored_.message_id.text();
  dead_letter::Subject subject{.body = stored_.contents.body,
                               .attributes = attributes_,
                               .message_id = {},
                               .lineage_id = lineage_id_,
                               .group_id = {},
                               .message_group = stored_.contents.group,
                               .error_type = {},
                               .error_message = {},
                               .source_queue = {},
                               .sent = stored_.sent_wall,
                               .receive_count = message.receive_count};
  if (history != nullptr) {
    if (history->message_id) message_id_ = history->message_id->text();
    if (const auto* group = state.find_group(history->group)) {
      group_id_ = dead_letter::GroupId{group->identity.id}.text();
    }
    if (const queue::ErrorText* error = last_error(state, slot)) {
      subject.error_type = error->type;
      subject.error_message = error->message;
    }
    if (history->dead_letter_source != queue::NameIndex::none) {
      const std::string_view arn = state.name(history->dead_letter_source);
      subject.source_queue = arn.substr(arn.rfind(':') + 1);
    }
    if (history->sent_wall != Timestamp()) subject.sent = history->sent_wall;
    subject.redrive_count = history->redrives;
  }
  subject.message_id = message_id_;
  subject.group_id = group_id_;
  return subject;
}

}  // namespace redrive::engine
