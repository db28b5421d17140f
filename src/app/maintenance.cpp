#include "app/maintenance.h"

namespace redrive::app {
namespace {

// Between slices the requests come first; when there is nothing to do, looking is cheap but not
// free.
constexpr std::chrono::microseconds kBetweenSlices{150};
constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

Maintenance::Maintenance(engine::Engine& engine, std::function<void(const Error&)> on_failure)
    : engine_(engine), on_failure_(std::move(on_failure)), thread_([this] { run(); }) {}

Maintenance::~Maintenance() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void Maintenance::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const auto more = engine_.maintain();
    if (!more) return on_failure_(more.error());
    lock.lock();
    const auto pause = *more ? std::chrono::microseconds(kBetweenSlices) : kBetweenLooks;
    stop_.wait_for(lock, pause, [this] { return stopping_; });
  }
}

}  // namespace redrive::app
