#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dispatch/destination.h"
#include "dispatch/world.h"

namespace redrive::dispatch {

// Documents on their way, and the messages that leave their queue when they have arrived.
struct Parcel {
  Destination to;
  queue::QueueIdentity from;
  std::vector<std::string> handles;
  std::vector<std::string> documents;  // JSON.
  std::string object_key;              // In a bucket; of several, with their numbers behind it.
  std::string sender;
};

using Delivered = std::function<void(Result<void>)>;

// Brings a parcel where it belongs, and takes the messages out of their queue: for queues and
// functions both are one record, for buckets and webhooks the one after the other has succeeded,
// so that a crash in between delivers twice and never not at all. A webhook that fails is tried
// again a few times. `done` is called on the strand, or before this returns; after an error the
// messages are where they were.
void deliver(const std::shared_ptr<World>& world, Parcel parcel, Delivered done);

// The queue in which events for a function wait, made when there is none yet.
Result<void> ensure_async_queue(engine::Engine& engine, const functions::FunctionId& function);

// An event for a function, to be run later. It is safe when the sequence is synced.
Result<engine::Sequence> send_event(engine::Engine& engine, const functions::FunctionId& function,
                                    const runtime::Invocation& event);

}  // namespace redrive::dispatch
