#pragma once

#include <istream>

#include "cli/failure.h"
#include "cli/send_source.h"
#include "cli/session.h"

namespace redrive::cli {

// Sends what the options and the stream say, ten a request, over several connections, and prints
// what became of each message.
Answer<void> send_messages(const SendOptions& options, Session& session, std::istream& in);

}  // namespace redrive::cli
