#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "wire/reported_error.h"

namespace redrive::events {

// Looks in the log of one invocation for the errors of the messages that failed and whose cause is
// not known yet: one for each message of the batch, empty where the log does not tell. In this
// order:
//  - an exception (a stack trace, or a line of JSON that describes an error) whose lines carry the
//    message's id;
//  - exceptions between the line that carries the message's id and the line that carries another
//    one, provided that every failed message without an error of its own has one there;
//  - when one message failed: the last exception in the log, or the last line that names an error;
//  - a line without an exception that carries the id and says that something failed.
// Takes time in proportion to the log and the number of messages; accepts any bytes.
std::vector<wire::ReportedError> log_causes(std::string_view log,
                                            std::span<const std::string_view> message_ids,
                                            const std::vector<bool>& failed,
                                            const std::vector<bool>& known);

}  // namespace redrive::events
