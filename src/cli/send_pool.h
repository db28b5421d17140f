#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cli/batch_planner.h"
#include "cli/batch_sender.h"
#include "cli/failure.h"

namespace redrive::cli {

// Several senders, each with a thread and a connection of its own, fed from one short line of
// batches. Threads start as batches come, so that a single message costs a single connection.
class SendPool {
 public:
  using MakeSender =
      std::function<std::unique_ptr<BatchSender>()>;  // Called by the owner's thread.

  SendPool(unsigned threads_max, MakeSender make_sender);
  ~SendPool();
  SendPool(const SendPool&) = delete;
  SendPool& operator=(const SendPool&) = delete;

  // Waits for room. False: a request has failed for good, and no more are taken.
  bool push(Batch batch);
  // Waits until all is sent or one has failed, and tells that failure.
  std::optional<Failure> finish();

 private:
  void work(BatchSender& sender);
  std::optional<Batch> next();

  const unsigned threads_max_;
  const MakeSender make_sender_;
  std::mutex mutex_;  // Guards the four members below.
  std::condition_variable changed_;
  std::deque<Batch> line_;
  bool closed_ = false;
  std::optional<Failure> failure_;
  std::vector<std::jthread> threads_;  // The owner's thread only. Last: joined first.
};

}  // namespace redrive::cli
