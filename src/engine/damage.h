#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "queue/mailbox.h"
#include "queue/state.h"

namespace redrive::engine {

// A message that was set aside because its stored bytes cannot be read, and all that is known of
// it.
struct DamagedMessage {
  queue::Mailbox::AgeMark mark;
  queue::BodyRef body;    // Where its bytes lie in the journal.
  std::string queue_arn;  // The queue it was in.
  // The id that clients know it by. Absent when only the damaged bytes could tell.
  std::optional<Uuid> message_id;
  std::string error;
  Timestamp found_wall;
  Timestamp expires_wall;  // When it is forgotten.
  std::uint32_t receive_count = 0;
  std::string group;               // MessageGroupId, or empty.
  std::string dead_letter_source;  // ARN, or empty.
};

struct DamagedPage {
  std::vector<DamagedMessage> messages;
  std::size_t total = 0;  // In all pages together.
  bool more = false;
  Timestamp wall;
};

}  // namespace redrive::engine
