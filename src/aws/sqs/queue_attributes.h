#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/sqs/model/types.h"
#include "base/result.h"
#include "core/queue/settings.h"

// Queue attributes as clients write and read them, and as the rules keep them.

namespace redrive::sqs {

enum class AttributeUse { create, change };

// Applies attribute texts to settings; all of them or, on the first that is wrong, none. For a new
// queue `settings` are the defaults and FifoQueue decides the kind.
Result<queue::QueueSettings> apply_attributes(const queue::QueueSettings& settings,
                                              const StringMap& attributes, AttributeUse use);

// The text of a settable attribute as it is reported; nothing when it is not shown on such a queue.
std::optional<std::string> attribute_text(const queue::QueueSettings& settings,
                                          std::string_view name);

// Settable attributes in alphabetical order.
const std::vector<std::string_view>& settable_attributes();
bool is_queue_attribute(std::string_view name);  // Also the ones that can only be read, and All.

// The first attribute whose given text means something else than what is set.
std::optional<std::string_view> first_difference(const queue::QueueSettings& current,
                                                 const queue::QueueSettings& wanted,
                                                 const StringMap& given);

Result<void> check_queue_name(std::string_view name, bool fifo);

}  // namespace redrive::sqs
