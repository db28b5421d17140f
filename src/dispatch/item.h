#pragma once

#include <array>
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

// What a handler said of one message that failed, or what its log tells.
struct ItemError {
  queue::ErrorText text;
  bool from_log = false;  // Then it explains, and decides nothing.
};

// A message that was received and is being worked on.
struct Item {
  queue::ReceiptHandle receipt;
  queue::ReceiptHandle::Text handle;  // The receipt, as it is known outside.
  Uuid message_id;
  std::size_t record_at = 0;  // Where its record lies in the event of its batch.
  std::size_t record_size = 0;
  std::string group;
  std::string trace;        // AWSTraceHeader.
  std::string traceparent;  // The message attribute of that name.
  Uuid lineage;             // The MessageId of its first send.
  bool redriven = false;    // It has had another MessageId before.
  Timestamp sent_wall;
  Timestamp received_at;  // Engine time.
  std::uint32_t receive_count = 0;
  queue::RetryCounts retries;
  queue::IsolationTerms isolation;
  std::shared_ptr<Hold> hold;
  std::shared_ptr<const ItemError> error;  // Why it failed, where that is known of it alone.
};

// A function has run, or was to run, with these messages of a queue.
struct RunReport {
  const queue::QueueIdentity& queue;
  std::string_view function;
  std::string_view request_id;
  std::span<const Item> items;
  const runtime::Outcome& outcome;
};

// What was received, with its stored bytes. Messages that cannot be read are left out; those that
// are damaged have left their queue, the others come again when their visibility timeout ends.
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

// Describes one message after another as handlers and filters see it, in memory that serves them
// all.
class RecordMaker {
 public:
  // Good until the next; views the stored bytes.
  const events::Record& describe(const ReceivedMessages::Message& message, std::string_view handle);

 private:
  void add(std::string_view name, std::string_view text);
  template <class Int>
  void add_number(std::string_view name, Int value);
  void add_attributes(const ReceivedMessages::Message& message);

  // What is nowhere stored as text.
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

// Nobody prolongs these any more. Their receipts, in the same order.
std::vector<queue::ReceiptHandle> forget(std::span<const Item> items);

// What is known of a message besides its contents.
Item describe_item(const ReceivedMessages::Message& message,
                   const queue::ReceiptHandle::Secret& secret, const std::shared_ptr<Hold>& hold);

}  // namespace redrive::dispatch
