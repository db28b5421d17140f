#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/queue/consumer_name.h"
#include "core/queue/state.h"
#include "core/store/message_codec.h"
#include "dead_letters/triage/features.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/view/peeked.h"

namespace redrive::dead_letters {

// What memory knows of a message, copied for filters that look at it outside the turn.
struct KnownMessage {
  std::optional<Uuid> message_id;  // When not the one stored.
  Timestamp sent_wall;             // Likewise; zero: the one stored.
  std::uint32_t receive_count = 0;
  std::uint32_t redrives = 0;
  std::string group_id;
  std::string error_type;
  std::string error_message;
  std::string source_arn;

  friend bool operator==(const KnownMessage&, const KnownMessage&) = default;
};
KnownMessage known_of(const queue::State& state, queue::Slot slot);

// What memory knows of a message's attempts.
struct Delivery {
  std::string_view consumer;  // Of the last one, as recorded; empty: not known.
  Timestamp first_attempt;    // Wall time; zero: not known.
};

// A stored message in the form that dead_letters/triage works on. Views what it is made of.
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

  triage::MessageView features(const Delivery& delivery);

  // With what memory knows of the message, for filters.
  triage::Subject subject(const KnownMessage& known);
  triage::Subject subject(const Peeked& peeked);

 private:
  const store::StoredMessage& stored_;
  std::vector<triage::AttributeView> attributes_;
  std::string message_id_;
  std::string lineage_id_;
  KnownMessage known_;
  queue::ConsumerName consumer_;
};

// Keeps those messages that failed alone, if there are any: of the others only their batches are
// known to have failed.
void prefer_judged_alone(const queue::State& state, std::vector<queue::Slot>& slots);

// The error that tells best why a message failed (queue::telling_attempt); null: none was
// reported.
const queue::ErrorText* last_error(const queue::State& state, queue::Slot slot);

}  // namespace redrive::dead_letters
