#include "cli/client/send_pool.h"

#include <utility>

namespace redrive::cli {

SendPool::SendPool(unsigned threads_max, MakeSender make_sender)
    : threads_max_(threads_max), make_sender_(std::move(make_sender)) {}

SendPool::~SendPool() {
  finish();
}

bool SendPool::push(Batch batch) {
  if (threads_.size() < threads_max_) {
    threads_.emplace_back([this, sender = make_sender_()] { work(*sender); });
  }
  UniqueMutexLock lock(mutex_);
  changed_.wait(mutex_, [&]() REQUIRES(mutex_) { return failure_ || line_.size() < threads_max_; });
  if (failure_) return false;
  line_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

std::optional<Failure> SendPool::finish() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  threads_.clear();
  const MutexLock lock(mutex_);
  return failure_;
}

std::optional<Batch> SendPool::next() {
  UniqueMutexLock lock(mutex_);
  changed_.wait(mutex_, [&]() REQUIRES(mutex_) { return failure_ || closed_ || !line_.empty(); });
  if (failure_ || line_.empty()) return std::nullopt;
  Batch batch = std::move(line_.front());
  line_.pop_front();
  changed_.notify_all();
  return batch;
}

void SendPool::work(BatchSender& sender) {
  while (const auto batch = next()) {
    const auto sent = sender.send(*batch);
    if (sent) continue;
    const MutexLock lock(mutex_);
    if (!failure_) failure_ = sent.error();
    changed_.notify_all();
  }
}

}  // namespace redrive::cli
