#include "functions/dispatch/hold.h"

#include <algorithm>

namespace redrive::dispatch {

std::shared_ptr<Hold> Hold::begin(engine::Engine& engine, Terms terms,
                                  std::span<const engine::Received> received) {
  std::shared_ptr<Hold> hold(new Hold(engine, std::move(terms)));
  MutexLock lock(hold->mutex_);
  hold->handles_.reserve(received.size());
  for (const engine::Received& message : received) hold->handles_.push_back(message.handle);
  hold->schedule();
  return hold;
}

Hold::~Hold() {
  engine_.cancel(call_);
}

void Hold::forget(std::span<const queue::ReceiptHandle> handles) {
  MutexLock lock(mutex_);
  // Usually all of them, in their original order.
  if (std::ranges::equal(handles, handles_)) return handles_.clear();
  for (const queue::ReceiptHandle& handle : handles) std::erase(handles_, handle);
}

// After two thirds of the timeout: rarely enough to be cheap, early enough to be in time.
void Hold::schedule() {
  call_ = engine_.call_at(engine_.now() + terms_.visibility * 2 / 3, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->prolong();
  });
}

void Hold::prolong() {
  MutexLock lock(mutex_);
  const Duration left = received_at_ + queue::kVisibilityTimeoutMax - engine_.now();
  const auto timeout =
      std::chrono::floor<std::chrono::seconds>(std::min<Duration>(terms_.visibility, left));
  if (handles_.empty() || timeout <= std::chrono::seconds::zero()) return;
  std::vector<queue::ReceiptHandle::Text> texts;
  for (const queue::ReceiptHandle& handle : handles_) texts.push_back(handle.text(terms_.secret));
  std::vector<engine::Engine::VisibilityRequest> requests;
  for (const auto& text : texts) requests.push_back({text, timeout});
  // Messages that were deleted or received again in the meantime are skipped.
  static_cast<void>(engine_.change_visibility(*terms_.queue, requests));
  schedule();
}

}  // namespace redrive::dispatch
