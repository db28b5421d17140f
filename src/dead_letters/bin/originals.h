#pragma once

#include <vector>

#include "core/queue/state.h"
#include "core/store/message_codec.h"

namespace redrive::dead_letters {

// A message that is about to be edited, and where its original shall stay.
struct Original {
  const queue::Queue& queue;
  queue::Slot slot;
  const store::StoredMessage& stored;  // Its bytes as they are.
  const queue::Queue& bin;
  queue::MessageKey key;  // For the original, and the
  Uuid message_id;        // id under which it may come back beside what replaced it.
  queue::NameIndex actor;
  queue::NameIndex reason;
};

// The facts that leave the original in the bin, where it can be taken back until the bin forgets
// it. To be recorded with the edit; they view the stored bytes.
void keep_original(const queue::State& state, const Original& original, const queue::Stamp& stamp,
                   std::vector<queue::Change>& changes);

}  // namespace redrive::dead_letters
