#include "functions/runtime/janitor.h"

#include <utility>

namespace redrive::runtime {

Janitor::Janitor() : thread_([this] { run(); }) {}

Janitor::~Janitor() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void Janitor::ask(std::function<void()> chore) {
  {
    const MutexLock lock(mutex_);
    chores_.push(std::move(chore));
  }
  asked_.notify_one();
}

void Janitor::run() {
  UniqueMutexLock lock(mutex_);
  while (true) {
    asked_.wait(mutex_, [this]() REQUIRES(mutex_) { return ending_ || !chores_.empty(); });
    if (chores_.empty()) return;
    const auto chore = std::move(chores_.front());
    chores_.pop();
    lock.unlock();
    chore();
    lock.lock();
  }
}

}  // namespace redrive::runtime
