#pragma once

#include <string>
#include <vector>

#include "functions/dispatch/item.h"
#include "functions/events/event_document.h"

namespace redrive::dispatch {

// The messages of a batch and the event that contains them. Records are written directly into the
// event, because bodies may be large. All under the same frame.
struct Load {
  std::vector<Item> items;
  std::string event;  // Without its foot until close().

  // Reserves space for `count` messages of `bytes` in total.
  void expect(std::size_t count, std::size_t bytes);
  // Adds the message, unless the event would become too large. The first always fits, whatever
  // escaping does to its size; otherwise it could never be delivered.
  bool add(Item& item, const events::Record& record, const events::EventFrame& frame);
  // Ends the event; no more messages can be added.
  void close(const events::EventFrame& frame);
};

}  // namespace redrive::dispatch
