#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/engine/engine.h"
#include "core/queue/mailbox.h"
#include "core/queue/state.h"

namespace redrive::dead_letters {

// A message that was set aside because its stored bytes cannot be read.
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

// How long damaged messages are kept, from the moment they were found.
inline constexpr std::chrono::seconds kDamagedRetention = std::chrono::days(14);

// Messages whose stored bytes cannot be read: set aside when found, listed, dropped or taken back.
// Damage seldom comes alone, so the other messages of a damaged segment are read, too.
class Damage final : public engine::Extension {
 public:
  explicit Damage(engine::Engine& engine) : engine_(engine) {}

  void start(engine::Turn& turn) override;
  bool maintain() override;
  // Sets the message aside, unless a consumer holds it that received good bytes.
  void found_damage(const engine::Unreadable& found) override;

  // Moves damaged messages out of the way of others. Those that have changed since they were read
  // stay.
  void set_aside(engine::Turn& turn, std::span<const engine::Unreadable> found);

  // A page of a queue's damaged messages, oldest first.
  Result<DamagedPage> list(const queue::QueueIdentity& queue, const queue::Mailbox::AgeMark& after,
                           std::size_t max);
  // How many each queue has, by the queue that they were in; only those that ever had one.
  std::map<queue::QueueIdentity, std::size_t> counts();
  // Forgets damaged messages for good; returns how many there were.
  Result<std::size_t> drop(const queue::QueueIdentity& queue,
                           std::span<const queue::MessageKey> keys);
  // Drops messages wherever they are, also where a consumer holds them: for tools that run while
  // there is no server. Adds a line for each message that was dropped.
  void drop_unreadable(std::span<const engine::Unreadable> found, std::vector<std::string>& lines);
  // Reads damaged messages again. Those that are whole now, for example because their file was
  // restored from a backup, go back to where they were; returns how many.
  Result<std::size_t> retry(const queue::QueueIdentity& queue,
                            std::span<const queue::MessageKey> keys, const engine::Actor& by);

 private:
  struct Examination {
    std::set<std::uint32_t> segments;
    queue::Slot slot = 0;
  };

  bool restore(engine::Turn& turn, const queue::QueueIdentity& queue, queue::MessageKey key,
               std::string_view actor);

  engine::Engine& engine_;
  // In turn.
  Examination examination_;
  std::set<std::uint32_t> suspect_segments_;  // To be examined next.
};

}  // namespace redrive::dead_letters
