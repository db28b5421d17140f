#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/draft.h"
#include "engine/engine.h"
#include "sqs/messages.h"

// SendMessage comes in two halves, so that the second can be done for many at once.

namespace redrive::api {

// A message that passed the checks, and where it goes.
struct SendPlan {
  queue::QueueIdentity queue;
  std::shared_ptr<const queue::QueueSettings> settings;  // As they were when it was checked.
};

Result<SendPlan> plan_send(Call& call, const sqs::SendMessageInput& input);
Result<sqs::SendMessageOutput> send_planned(Call& call, const sqs::SendMessageInput& input,
                                            const SendPlan& plan);

// Small messages of different callers that go to the engine together. Their digests are made
// several at a time, which takes a quarter of the time, and those for one queue are one turn and
// one record. Places are used again, so that a busy thread allocates nothing.
class GatheredSends {
 public:
  std::size_t size() const { return size_; }
  // False: it is to be sent by itself. Otherwise its number is size() - 1, its plan is taken, and
  // nothing of the request is needed any more.
  bool take(const Call& call, const sqs::SendMessageInput& input, SendPlan& plan);
  // Sends all.
  void send(engine::Engine& engine);
  // What became of it, after send() and until clear().
  const Result<sqs::SendMessageOutput>& result(std::size_t number) const {
    return places_[number]->result;
  }
  void clear() { size_ = 0; }

 private:
  struct Place {
    SendPlan plan;
    PreparedMessage prepared;
    std::string sequence;
    Result<sqs::SendMessageOutput> result;
    bool sent = false;
  };
  void make_digests();
  void send_alike(engine::Engine& engine, std::size_t first);

  std::vector<std::unique_ptr<Place>> places_;
  std::size_t size_ = 0;
  std::vector<std::string_view> bodies_;
  std::vector<Md5> digests_;
  std::vector<std::size_t> alike_;
  std::vector<queue::Draft> drafts_;
};

}  // namespace redrive::api
