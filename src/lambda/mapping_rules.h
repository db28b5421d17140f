#pragma once

#include "documents/mappings.h"
#include "lambda/call.h"
#include "queue/state.h"

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

// What it has come to when nothing is under way.
inline std::string_view settled_state(const functions::Mapping& mapping) {
  return mapping.enabled ? "Enabled" : "Disabled";
}

}  // namespace redrive::lambda
