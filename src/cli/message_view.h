#pragma once

#include <string>

#include "base/time.h"
#include "cli/terminal.h"
#include "documents/message_page.h"
#include "sqs/actions.h"

namespace redrive::cli {

// `3 s`, `5 min`, `2 h`, `4 d`: the largest unit that fits.
std::string readable_age(Duration age);

// A message for people: who it is and how it fares on the first line, then its attributes, then its
// body, indented if it is JSON.
std::string readable_message(const Terminal& terminal, const sqs::ReceivedMessage& message,
                             Timestamp now);

// The attempt whose error tells best why the message failed: the last one with an error of its own
// since its last redrive, else the last one with an error. Null: none has one.
const documents::Attempt* telling_attempt(const documents::Message& message);

// Its attempts and its attributes, a line each.
std::string readable_attempts(const Terminal& terminal, const documents::Message& message);
std::string readable_attributes(const Terminal& terminal, const sqs::MessageAttributes& attributes);

// A message as it lies in its queue, with every attempt to process it.
std::string readable_message(const Terminal& terminal, const documents::Message& message);

}  // namespace redrive::cli
