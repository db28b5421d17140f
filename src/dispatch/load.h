#pragma once

#include <string>
#include <vector>

#include "dispatch/item.h"
#include "events/event_document.h"

namespace redrive::dispatch {

// The messages of a batch, and the event that tells a function of them. Records are written where
// they are sent from: bodies may be large. All under the same frame.
struct Load {
  std::vector<Item> items;
  std::string event;  // Without its foot while messages may still come.

  // So many messages are about to come, of so many bytes altogether.
  void expect(std::size_t count, std::size_t bytes);
  // Takes the message, unless the event would be too large with it. The first always fits, whatever
  // escapes make of it, or nobody could ever have it.
  bool add(Item& item, const events::Record& record, const events::EventFrame& frame);
  // No more messages will come.
  void close(const events::EventFrame& frame);
};

}  // namespace redrive::dispatch
