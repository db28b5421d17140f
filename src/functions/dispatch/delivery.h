#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "functions/dispatch/destination.h"
#include "functions/dispatch/world.h"

namespace redrive::dispatch {

// Documents to deliver, and the messages to delete once they have been delivered.
struct Delivery {
  Destination to;
  queue::QueueIdentity from;
  std::vector<std::string> handles;
  std::vector<std::string> documents;  // JSON.
  std::string object_key;              // In a bucket; several documents get a number appended.
  std::string sender;
};

using Delivered = std::function<void(Result<void>)>;

// Delivers the documents and deletes the messages from their queue. For queues and functions both
// are one record; for buckets and webhooks the messages are deleted after the delivery has
// succeeded, so that a crash in between delivers twice rather than never. A failing webhook is
// retried a few times. `done` is called on the strand, or before this returns; after an error the
// messages are unchanged.
void deliver(const std::shared_ptr<World>& world, Delivery delivery, Delivered done);

// Creates the queue for a function's asynchronous events if it does not exist.
Result<void> ensure_async_queue(engine::Engine& engine, const functions::FunctionId& function);

// Queues an event for asynchronous invocation. Durable once the sequence is synced.
Result<engine::Sequence> send_event(engine::Engine& engine, const functions::FunctionId& function,
                                    const runtime::Invocation& event);

}  // namespace redrive::dispatch
