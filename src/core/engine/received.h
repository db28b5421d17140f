#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/engine/waiters.h"
#include "core/queue/history.h"
#include "core/queue/receipt_handle.h"
#include "core/queue/receive.h"
#include "core/queue/send.h"
#include "core/store/store.h"

// What the engine takes and returns when messages are sent and received.
namespace redrive::engine {

using journal::Sequence;

// A message as delivered to a consumer: the part that is in memory. Its bytes are read later,
// outside the engine's turn.
struct Received {
  queue::ReceiptHandle handle;
  queue::BodyRef body;
  std::uint32_t receive_count = 0;
  Timestamp first_received_wall;
  std::uint64_t sequence = 0;      // FIFO.
  std::optional<Uuid> message_id;  // If it differs from the stored one, like the next.
  Timestamp sent_wall;
  std::string dead_letter_source;  // ARN, or empty.
  bool dedup_is_message_id = false;
  queue::RetryCounts retries;
  queue::IsolationTerms isolation = {};  // For receives that isolate retries.
};

// Keeps segments from being recycled while bodies are read from them.
class BodyPins {
 public:
  BodyPins() = default;
  explicit BodyPins(store::Store& store) : store_(&store) {}
  BodyPins(BodyPins&& other) noexcept : store_(other.store_), bodies_(std::move(other.bodies_)) {
    other.bodies_.clear();
  }
  BodyPins& operator=(BodyPins&&) = delete;
  ~BodyPins() {
    for (const auto& body : bodies_) store_->unpin(body);
  }
  void add(const queue::BodyRef& body) {
    // A pin covers a whole segment, and messages received together are usually stored together.
    if (!bodies_.empty() && bodies_.back().segment == body.segment) return;
    store_->pin(body);
    bodies_.push_back(body);
  }
  bool empty() const { return bodies_.empty(); }

 private:
  store::Store* store_ = nullptr;
  std::vector<queue::BodyRef> bodies_;
};

struct ReceiveOutcome {
  std::vector<Received> messages;
  BodyPins pins;
  Sequence after = 0;  // The reply may leave when this is synced.
};

// Either an answer, or a wait.
struct ReceiveStart {
  std::optional<Result<ReceiveOutcome>> answer;
  WaitId wait = 0;
};

// A message whose stored bytes are not what was written.
struct Unreadable {
  queue::MessageKey key;
  queue::BodyRef body;
  std::string error;
  // The generation of the receive that found the damage: it may remove the message it holds.
  std::optional<std::uint32_t> delivery = {};
};

struct SendResult {
  std::vector<queue::SendOutcome> outcomes;
  Sequence after = 0;
};

// One message of a send to several queues, and its outcome.
struct Parcel {
  queue::QueueKey to;
  queue::Draft draft;
  Result<queue::SendOutcome> outcome = {};
};

// A callback that was scheduled.
struct CallId {
  Timestamp when;
  std::uint64_t number = 0;
};

}  // namespace redrive::engine
