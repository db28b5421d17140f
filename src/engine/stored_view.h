#pragma once

#include <vector>

#include "dead_letter/features.h"
#include "dead_letter/filter.h"
#include "engine/peeked.h"
#include "queue/state.h"
#include "store/message_codec.h"

namespace redrive::engine {

// A stored message as the dead_letter room looks at messages. Views what it is made of.
class StoredView {
 public:
  explicit StoredView(const store::StoredMessage& stored) : stored_(stored) {
    stored.contents.for_each_attribute([this](const store::AttributeView& attribute) {
      attributes_.push_back({.name = attribute.name,
                             .data_type = attribute.type,
                             .value = attribute.binary ? std::string_view() : attribute.value});
    });
  }
  StoredView(const StoredView&) = delete;
  StoredView& operator=(const StoredView&) = delete;

  dead_letter::MessageView features() const {
    return {.body = stored_.contents.body,
            .attributes = attributes_,
            .has_group = !stored_.contents.group.empty()};
  }

  // With what memory knows of the message, for filters.
  dead_letter::Subject subject(const queue::State& state, queue::Slot slot);
  dead_letter::Subject subject(const Peeked& peeked);

 private:
  dead_letter::Subject subject(const queue::History* history, std::uint32_t receive_count,
                               const queue::ErrorText* error, std::string_view source_arn);

  const store::StoredMessage& stored_;
  std::vector<dead_letter::AttributeView> attributes_;
  std::string message_id_;
  std::string lineage_id_;
  std::string group_id_;
};

// The error that a message's last failed attempt reported; none: nobody said.
const queue::ErrorText* last_error(const queue::State& state, queue::Slot slot);

}  // namespace redrive::engine
