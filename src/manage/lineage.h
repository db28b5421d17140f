#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letters/view/peeked.h"
#include "manage/documents/message_page.h"

// The history of a message as documents of the management API. The archive uses them too.
namespace redrive::manage {

// Stores a text and returns a view that stays valid.
using Keep = std::function<std::string_view(std::string)>;

std::vector<documents::Attempt> attempts_of(const dead_letters::Peeked& message, const Keep& keep);
std::vector<documents::Event> events_of(const dead_letters::Peeked& message, const Keep& keep);

// All of it, as an archived document has it.
documents::Lineage lineage_of(const dead_letters::Peeked& message, const Uuid& lineage,
                              const Keep& keep);

// The reverse: parses the history in a document. An error if its times or names are invalid.
// Without the count, the message may be redriven as often as a new one.
Result<dead_letters::Peeked> history_in(const documents::Lineage& lineage, bool keep_count);

}  // namespace redrive::manage
