#pragma once

#include "aws/lambda/call.h"
#include "core/queue/state.h"
#include "manage/documents/mappings.h"

// What a mapping may be, in Lambda's words where it has any.

namespace redrive::lambda {

// Applies what a request sets, or tells why not. Queue and function are for others.
Outcome<void> apply_settings(const Call& call, const documents::MappingSettings& settings,
                             functions::Mapping& mapping);

// What must be true of it together with its queue.
Outcome<void> check_with_queue(const functions::Mapping& mapping, const queue::Queue& queue);

// How Lambda tells of a mapping. Points into the mapping, which must stay, and into the call.
documents::MappingDocument describe(Call& call, const functions::Mapping& mapping,
                                    std::string_view state);

// Disabling until its poller has let go of what it received.
inline std::string_view current_state(const Call& call, const functions::Mapping& mapping) {
  if (mapping.enabled) return "Enabled";
  const bool engaged = call.parts.is_engaged && call.parts.is_engaged(mapping.id);
  return engaged ? "Disabling" : "Disabled";
}

}  // namespace redrive::lambda
