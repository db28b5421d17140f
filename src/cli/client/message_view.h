#pragma once

#include <string>

#include "aws/sqs/model/actions.h"
#include "base/time.h"
#include "cli/term/terminal.h"
#include "manage/documents/message_page.h"

namespace redrive::cli {

// `3 s`, `5 min`, `2 h`, `4 d`: the largest unit that fits.
std::string readable_age(Duration age);
// Users' text in the output of a command: no line of it starts at the left margin, where it could
// pass for a line of the command.
std::string indented(std::string_view text);
// A body: pretty-printed if it is JSON, else indented.
std::string readable_body(std::string_view body);

// A message for display: id and state on the first line, then its attributes, then its body,
// indented if it is JSON.
std::string readable_message(const Terminal& terminal, const sqs::ReceivedMessage& message,
                             Timestamp now);

// The attempt whose error best explains the failure: the last one with an error of its own since
// the last redrive, else the last one with an error. Null if there is none.
const documents::Attempt* telling_attempt(const documents::Message& message);

// Attempts and attributes, one line each.
std::string readable_attempts(const Terminal& terminal, const documents::Message& message);
std::string readable_attributes(const Terminal& terminal, const sqs::MessageAttributes& attributes);

// A message in its queue, with all its attempts.
std::string readable_message(const Terminal& terminal, const documents::Message& message);

}  // namespace redrive::cli
