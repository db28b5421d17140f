#pragma once

#include <istream>

#include "cli/client/failure.h"
#include "cli/client/send_source.h"
#include "cli/client/session.h"

namespace redrive::cli {

// Sends the messages given by the options and the stream, ten per request, over several
// connections, and prints the result of each.
Answer<void> send_messages(const SendOptions& options, Session& session, std::istream& in);

}  // namespace redrive::cli
