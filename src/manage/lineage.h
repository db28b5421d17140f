#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dead_letters/view/peeked.h"
#include "manage/documents/message_page.h"

// What a message has been through, in the words of the management API. The archive uses them too.
namespace redrive::manage {

// Takes a text and gives a view of it that lasts.
using Keep = std::function<std::string_view(std::string)>;

std::vector<documents::Attempt> attempts_of(const dead_letters::Peeked& message, const Keep& keep);
std::vector<documents::Event> events_of(const dead_letters::Peeked& message, const Keep& keep);

// All of it, as an archived document has it.
documents::Lineage lineage_of(const dead_letters::Peeked& message, const Uuid& lineage,
                              const Keep& keep);

// The way back: what a document tells, with names and errors in words. An error when its times or
// words are not ours. Without its count a message has all its redrives again.
Result<dead_letters::Peeked> history_in(const documents::Lineage& lineage, bool keep_count);

}  // namespace redrive::manage
