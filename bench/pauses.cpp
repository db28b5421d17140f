#include "bench/pauses.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace redrive::bench {
namespace {

void bind_to(unsigned processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  ::pthread_setaffinity_np(::pthread_self(), sizeof(only), &only);
  const sched_param priority{.sched_priority = 2};
  ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &priority);
}

}  // namespace

Nanos time_outside(Nanos begin, Nanos end, std::vector<Pause> pauses) {
  std::ranges::sort(pauses, {}, &Pause::begin);
  Nanos outside{0};
  Nanos at = begin;
  for (const Pause& pause : pauses) {
    if (pause.begin >= end) break;
    if (pause.end <= at) continue;
    outside += std::max(Nanos::zero(), pause.begin - at);
    at = std::min(end, pause.end);
  }
  return outside + std::max(Nanos::zero(), end - at);
}

PauseWatch::PauseWatch() : found_(std::max(1u, std::thread::hardware_concurrency())) {
  for (unsigned i = 0; i < found_.size(); ++i) {
    threads_.emplace_back([this, i] { watch(i, found_[i]); });
  }
}

void PauseWatch::watch(unsigned processor, std::vector<Pause>& pauses) const {
  bind_to(processor);
  while (!ended_.load(std::memory_order_relaxed)) {
    const Nanos due = now() + kSleep;
    std::this_thread::sleep_for(kSleep);
    const Nanos woken = now();
    if (woken - due >= kPauseMin) pauses.push_back({due, woken});
  }
}

std::vector<Pause> PauseWatch::stop() {
  ended_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::vector<Pause> all;
  for (const auto& some : found_) all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace redrive::bench
