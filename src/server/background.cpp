#include "server/background.h"

#include <chrono>

namespace redrive::server {

Background::Background(std::function<void()> every_second)
    : every_second_(std::move(every_second)), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Background::post(std::function<void()> errand) {
  {
    const std::lock_guard lock(mutex_);
    errands_.push_back(std::move(errand));
  }
  wake_.notify_one();
}

void Background::run() {
  auto due = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_until(lock, due, [this] { return stopping_ || !errands_.empty(); });
    if (stopping_) return;
    std::function<void()> errand = every_second_;
    if (errands_.empty()) {
      due = std::max(due, std::chrono::steady_clock::now() - std::chrono::seconds(1)) +
            std::chrono::seconds(1);
    } else {
      errand = std::move(errands_.front());
      errands_.pop_front();
    }
    lock.unlock();
    errand();
    lock.lock();
  }
}

}  // namespace redrive::server
