#pragma once

#include <optional>

#include "http/poller.h"

namespace redrive::runtime {

// A user that nobody else on the machine runs processes as, for as long as this lives.
struct BorrowedUser {
  unsigned id = 0;
  http::Descriptor claim;  // A name that only one process can hold, and that dies with it.
};

// The first user of the range that is not borrowed, by this server or another.
std::optional<BorrowedUser> borrow_user(unsigned first, unsigned count);

// Kills what runs as a user of the range that nobody has borrowed: left by a server that was
// killed.
void end_stray_processes(unsigned first, unsigned count);
// Kills what still runs as that user; returns when nothing does, or nothing helps.
void end_processes_of_user(unsigned user);
// The same for the session that this process led.
void end_processes_of_session(int leader);

}  // namespace redrive::runtime
