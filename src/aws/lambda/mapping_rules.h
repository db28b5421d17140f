#pragma once

#include "aws/lambda/call.h"
#include "core/queue/state.h"
#include "manage/documents/mappings.h"

// Rules for mappings, with Lambda's error texts where it has them.

namespace redrive::lambda {

// Applies the settings of a request, except for queue and function.
Outcome<void> apply_settings(const Call& call, const documents::MappingSettings& settings,
                             functions::Mapping& mapping);

// Checks the mapping against its queue.
Outcome<void> check_with_queue(const functions::Mapping& mapping, const queue::Queue& queue);

// The document that Lambda returns for a mapping. Points into the mapping and the call.
documents::MappingDocument describe(Call& call, const functions::Mapping& mapping,
                                    std::string_view state);

// Disabling until its poller holds no messages.
inline std::string_view current_state(const Call& call, const functions::Mapping& mapping) {
  if (mapping.enabled) return "Enabled";
  const bool engaged = call.parts.is_engaged && call.parts.is_engaged(mapping.id);
  return engaged ? "Disabling" : "Disabled";
}

}  // namespace redrive::lambda
