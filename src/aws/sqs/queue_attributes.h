#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/sqs/model/types.h"
#include "base/result.h"
#include "core/queue/settings.h"

// Conversion between queue attributes and queue::QueueSettings.

namespace redrive::sqs {

enum class AttributeUse { create, change };

// Applies attribute texts to settings; all of them, or none if one is invalid. For a new
// queue `settings` are the defaults and FifoQueue decides the kind.
Result<queue::QueueSettings> apply_attributes(const queue::QueueSettings& settings,
                                              const StringMap& attributes, AttributeUse use);

// The text of a settable attribute as it is reported; nothing if such a queue does not have it.
std::optional<std::string> attribute_text(const queue::QueueSettings& settings,
                                          std::string_view name);

// Settable attributes in alphabetical order.
const std::vector<std::string_view>& settable_attributes();
bool is_queue_attribute(std::string_view name);  // Also the ones that can only be read, and All.

// The first given attribute whose value differs from the current one.
std::optional<std::string_view> first_difference(const queue::QueueSettings& current,
                                                 const queue::QueueSettings& wanted,
                                                 const StringMap& given);

Result<void> check_queue_name(std::string_view name, bool fifo);

}  // namespace redrive::sqs
