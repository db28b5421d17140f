#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "net/wire/reported_error.h"

namespace redrive::events {

// Searches the log of one invocation for the errors of failed messages whose cause is not known
// yet. Returns one per message of the batch, empty if the log does not tell. In this order:
//  - an exception (a stack trace, or a JSON line that describes an error) whose lines contain the
//    message's id;
//  - exceptions between the line with the message's id and the line with another id, provided that
//    every failed message without an error of its own has one there;
//  - if one message failed: the last exception in the log, or the last line that names an error;
//  - a line without an exception that contains the id and says that something failed.
//
// Takes time proportional to the log and the number of messages; accepts any bytes.
std::vector<wire::ReportedError> log_causes(std::string_view log,
                                            std::span<const std::string_view> message_ids,
                                            const std::vector<bool>& failed,
                                            const std::vector<bool>& known);

}  // namespace redrive::events
