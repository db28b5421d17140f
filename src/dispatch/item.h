#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/hold.h"
#include "engine/engine.h"
#include "events/record.h"
#include "runtime/invoker.h"
#include "store/message_codec.h"

namespace redrive::dispatch {

// A message that was received and is being worked on.
struct Item {
  std::string handle;
  std::string message_id;
  std::string record;  // As encode_record writes it; of asynchronous invocations: the event.
  std::string group;
  std::string trace;        // AWSTraceHeader.
  std::string traceparent;  // The message attribute of that name.
  Uuid lineage;             // The MessageId of its first send.
  bool redriven = false;    // It has had another MessageId before.
  Timestamp sent_wall;
  Timestamp received_at;  // Engine time.
  std::uint32_t receive_count = 0;
  queue::RetryCounts retries;
  std::shared_ptr<Hold> hold;
};

// A function has run, or was to run, with these messages of a queue.
struct RunReport {
  const queue::QueueIdentity& queue;
  std::string_view function;
  std::string_view request_id;
  std::span<const Item> items;
  const runtime::Outcome& outcome;
};

// What was received, with its stored bytes. Messages whose bytes are damaged are left out: nobody
// can work on them, and after enough receives they are dead letters like any other.
class ReceivedMessages {
 public:
  ReceivedMessages(engine::Engine& engine, const engine::ReceiveOutcome& outcome);

  struct Message {
    const engine::Received& received;
    store::StoredMessage stored;
  };
  const std::vector<Message>& messages() const { return messages_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::vector<Message> messages_;
};

// As handlers and filters see it. Views the stored bytes.
events::Record describe_record(const ReceivedMessages::Message& message, std::string handle);

// What is known of a message besides its contents.
Item describe_item(const ReceivedMessages::Message& message, std::string handle,
                   const std::shared_ptr<Hold>& hold);

}  // namespace redrive::dispatch
