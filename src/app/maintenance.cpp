#include "app/maintenance.h"

namespace redrive::app {
namespace {

// Requests go first between slices; when idle, checking is cheap but not free.
constexpr std::chrono::microseconds kBetweenSlices{150};
constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

Maintenance::Maintenance(engine::Engine& engine, std::function<void(const Error&)> on_failure)
    : engine_(engine), on_failure_(std::move(on_failure)), thread_([this] { run(); }) {}

Maintenance::~Maintenance() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void Maintenance::run() {
  UniqueMutexLock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const auto more = engine_.maintain();
    if (!more) return on_failure_(more.error());
    lock.lock();
    const auto pause = *more ? std::chrono::microseconds(kBetweenSlices) : kBetweenLooks;
    stop_.wait_for(mutex_, pause, [this]() REQUIRES(mutex_) { return stopping_; });
  }
}

}  // namespace redrive::app
