#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cli/client/batch_planner.h"
#include "cli/client/batch_sender.h"
#include "cli/client/failure.h"

namespace redrive::cli {

// Several senders, each with its own thread and connection, fed from one short queue of batches.
// Threads are started as batches arrive, so that a single message uses a single connection.
class SendPool {
 public:
  // Called by the owner's thread.
  using MakeSender = std::function<std::unique_ptr<BatchSender>()>;

  SendPool(unsigned threads_max, MakeSender make_sender);
  ~SendPool();
  SendPool(const SendPool&) = delete;
  SendPool& operator=(const SendPool&) = delete;

  // Blocks while the queue is full. Returns false if a request has failed for good; no more batches
  // are accepted.
  bool push(Batch batch);
  // Waits until everything is sent or a request has failed, and returns that failure.
  std::optional<Failure> finish();

 private:
  void work(BatchSender& sender);
  std::optional<Batch> next();

  const unsigned threads_max_;
  const MakeSender make_sender_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Batch> line_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  std::optional<Failure> failure_ GUARDED_BY(mutex_);
  // Used by the owner's thread only. Last member: joined first.
  std::vector<std::jthread> threads_;
};

}  // namespace redrive::cli
