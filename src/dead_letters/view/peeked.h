#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/queue/error_table.h"
#include "core/queue/history.h"
#include "core/queue/mailbox.h"
#include "core/queue/state.h"

namespace redrive::dead_letters {

// A message as it is in its queue: everything about it that is in memory.
struct Peeked {
  queue::Mailbox::AgeMark mark;
  queue::BodyRef body;
  queue::Phase phase{};
  Duration visible_in{};  // While it is not visible.
  Timestamp expires_wall;
  std::uint32_t receive_count = 0;
  std::string group;
  std::optional<queue::History> history;  // None: never received nor moved.
  std::string dead_letter_source;         // ARNs, or empty.
  std::string origin;
  std::vector<std::string> consumers;    // Of each attempt in the history.
  std::vector<Timestamp> deployed;       // When the code of each attempt was; zero: not known.
  std::vector<queue::ErrorText> errors;  // Of each attempt; empty where nothing was reported.
  struct EventNames {
    std::string from;
    std::string actor;
    std::string reason;
    std::string job;
  };
  std::vector<EventNames> events;  // Of each event in the history.
  std::string failure_group;       // 32 hexadecimal digits, or empty.
  bool failed_again = false;       // After a redrive, for the same reason as before.
  bool parked = false;             // It has had as many redrives as its queue's policy allows.
};

// Adds the contents of a history, and the names in it.
void tell_history(const queue::State& state, const queue::History& history, Peeked& peeked);

// The message at `slot`. `policy` is the one in force for its queue, or null.
Peeked look(const queue::State& state, const queue::Queue& queue, queue::Slot slot,
            const queue::DeadLetterPolicy* policy, const queue::Stamp& stamp);

}  // namespace redrive::dead_letters
