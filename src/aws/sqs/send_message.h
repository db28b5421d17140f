#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/sqs/call.h"
#include "aws/sqs/draft.h"
#include "aws/sqs/model/messages.h"
#include "core/engine/engine.h"

// SendMessage has two parts, so that the second can be done for many messages at once.

namespace redrive::sqs {

// Checks the message. Returns its queue with the settings that it was checked against.
Result<FoundQueue> plan_send(Call& call, const SendMessageInput& input);
Result<SendMessageOutput> send_planned(Call& call, const SendMessageInput& input,
                                       const FoundQueue& plan);

// Small messages of different requests, for any queues, that are sent in one turn and as one
// record. Their digests are computed several at a time, which takes a quarter of the time. Places
// are reused, so that a busy thread does not allocate.
class GatheredSends {
 public:
  std::size_t size() const { return size_; }
  // False: send it separately. Otherwise its number is size() - 1, its plan is moved from, and the
  // request is no longer needed.
  bool take(const Call& call, const SendMessageInput& input, FoundQueue& plan);
  // Sends all.
  void send(engine::Engine& engine);
  // Valid after send() and until clear().
  const Result<SendMessageOutput>& result(std::size_t number) const {
    return places_[number]->result;
  }
  void clear() { size_ = 0; }

 private:
  struct Place {
    FoundQueue plan;
    PreparedMessage prepared;
    std::string sequence;
    Result<SendMessageOutput> result;
  };
  void make_digests();
  void describe_outcome(std::size_t number);

  std::vector<std::unique_ptr<Place>> places_;
  std::size_t size_ = 0;
  std::vector<std::string_view> bodies_;
  std::vector<Md5> digests_;
  std::vector<engine::Parcel> parcels_;
};

}  // namespace redrive::sqs
