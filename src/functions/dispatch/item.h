#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/store/message_codec.h"
#include "functions/dispatch/hold.h"
#include "functions/events/record.h"
#include "functions/runtime/invoker.h"

namespace redrive::dispatch {

// The error of one failed message, from the handler's response or from its log.
struct ItemError {
  queue::ErrorText text;
  bool from_log = false;  // For display only; not used for decisions.
};

// A received message being processed.
struct Item {
  queue::ReceiptHandle receipt;
  queue::ReceiptHandle::Text handle;  // The receipt as clients see it.
  Uuid message_id;
  std::size_t record_at = 0;  // Position of its record in the batch's event.
  std::size_t record_size = 0;
  std::string group;
  std::string trace;        // AWSTraceHeader
  std::string traceparent;  // Message attribute `traceparent`.
  Uuid lineage;             // MessageId of its first send.
  bool redriven = false;    // Had another MessageId before.
  Timestamp sent_wall;
  Timestamp received_at;  // Engine time.
  std::uint32_t receive_count = 0;
  queue::RetryCounts retries;
  queue::IsolationTerms isolation;
  std::shared_ptr<Hold> hold;
  std::shared_ptr<const ItemError> error;  // Set if known for this message individually.
};

// A function ran, or was about to run, with these messages of a queue.
struct RunReport {
  const queue::QueueIdentity& queue;
  std::string_view function;
  std::string_view request_id;
  std::span<const Item> items;
  const runtime::Outcome& outcome;
};

// Received messages with their stored bytes. Unreadable messages are left out: damaged ones have
// left their queue, the others become visible again when their visibility timeout ends.
class ReceivedMessages {
 public:
  ReceivedMessages(engine::Engine& engine, const engine::ReceiveOutcome& outcome);

  struct Message {
    const engine::Received& received;
    store::StoredMessage stored;
  };
  const std::vector<Message>& messages() const { return messages_; }
  std::size_t bytes() const { return size_; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<char[]> bytes_;
  std::vector<std::unique_ptr<std::string>> reread_;  // Of messages that had to be read twice.
  std::vector<Message> messages_;
};

// Describes messages as handlers and filters see them, reusing its memory.
class RecordMaker {
 public:
  // Valid until the next call; views the stored bytes.
  const events::Record& describe(const ReceivedMessages::Message& message, std::string_view handle);

 private:
  void add(std::string_view name, std::string_view text);
  template <class Int>
  void add_number(std::string_view name, Int value);
  void add_attributes(const ReceivedMessages::Message& message);

  // Texts that are not stored anywhere.
  struct Texts {
    std::array<char, 36> message_id;
    std::array<char, 36> dedup_id;
    std::array<char, 32> md5_of_message_attributes;
    std::array<char, 32> md5_of_body;
    std::array<char, 4 * 20> numbers;
  };
  events::Record record_;
  Texts texts_;
  char* numbers_end_ = nullptr;
};

// Stops extending the visibility of these messages. Returns their receipts, in the same order.
std::vector<queue::ReceiptHandle> forget(std::span<const Item> items);

// The properties of a message other than its contents.
Item describe_item(const ReceivedMessages::Message& message,
                   const queue::ReceiptHandle::Secret& secret, const std::shared_ptr<Hold>& hold);

}  // namespace redrive::dispatch
