#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/message_page.h"
#include "engine/peeked.h"

// What a message has been through, in the words of the management API. The archive uses them too.
namespace redrive::manage {

// Takes a text and gives a view of it that lasts.
using Keep = std::function<std::string_view(std::string)>;

std::vector<documents::Attempt> attempts_of(const engine::Peeked& message, const Keep& keep);
std::vector<documents::Event> events_of(const engine::Peeked& message, const Keep& keep);

}  // namespace redrive::manage
