#include "functions/dispatch/poller.h"

#include <algorithm>
#include <utility>

namespace redrive::dispatch {
namespace {

constexpr Duration kPollWait = std::chrono::seconds(20);
constexpr std::chrono::milliseconds kFirstPause{500};
constexpr std::chrono::milliseconds kLongestPause{10'000};

}  // namespace

std::shared_ptr<Poller::Answer> Poller::keep(World& world, Result<engine::ReceiveOutcome> outcome,
                                             Hold::Terms terms) {
  if (!outcome) return std::make_shared<Answer>(std::unexpected(outcome.error()));
  auto answer = std::make_shared<Answer>(Catch{*std::move(outcome), nullptr});
  Catch& brought = **answer;
  if (!brought.outcome.messages.empty())
    brought.hold = Hold::begin(world.engine, std::move(terms), brought.outcome.messages);
  return answer;
}

Duration Poller::visibility_of(const queue::Queue* queue, Duration hold_time) {
  const Duration timeout = queue == nullptr ? Duration() : queue->settings.visibility_timeout;
  return std::min<Duration>(std::max(timeout, hold_time), queue::kVisibilityTimeoutMax);
}

void Poller::poll() {
  while (!halted_ && !waiting_ && !pausing_) {
    auto intake = next_intake();
    if (!intake) return;
    const Hold::Terms terms{
        .queue = intake->queue, .visibility = intake->visibility, .secret = world_->secret};
    engine::ReceiveStart start = world_->engine.receive(
        *intake->queue,
        {.max = intake->max,
         .visibility = terms.visibility,
         .consumer = std::move(intake->consumer),
         .attempt_id = {},
         .isolated = intake->isolated},
        kPollWait,
        [weak = weak_from_this(), world = world_, terms](Result<engine::ReceiveOutcome> outcome) {
          auto answer = keep(*world, std::move(outcome), terms);
          world->strand.post([weak, world, terms, answer] {
            if (const auto self = weak.lock()) return self->answered(answer);
            give_back(*world, terms, *answer);
          });
        });
    if (!start.answer) {
      waiting_ = start.wait;
      return;
    }
    if (!take(*keep(*world_, *std::move(start.answer), terms))) return;
  }
}

void Poller::give_back(World& world, const Hold::Terms& terms, const Answer& answer) {
  if (!answer || answer->outcome.messages.empty()) return;
  std::vector<queue::ReceiptHandle::Text> texts;
  for (const engine::Received& message : answer->outcome.messages)
    texts.push_back(message.handle.text(terms.secret));
  std::vector<engine::Engine::VisibilityRequest> requests;
  for (const auto& text : texts) requests.push_back({text, std::chrono::seconds::zero(), true});
  world.note("making received messages visible again",
             world.engine.change_visibility(*terms.queue, requests));
}

void Poller::answered(const std::shared_ptr<Answer>& answer) {
  waiting_.reset();
  if (*answer && (*answer)->outcome.messages.empty()) {
    waited_in_vain();
  } else {
    take(*answer);
  }
  poll();
  receive_ended();
}

bool Poller::take(const Answer& answer) {
  if (!answer) {
    pause();
    return false;
  }
  failures_ = 0;
  // Empty without having waited: the engine is shutting down.
  if (answer->outcome.messages.empty()) return false;
  received(*answer);
  return true;
}

// The queue does not exist or has too many messages in flight; both may change.
void Poller::pause() {
  if (std::exchange(pausing_, true)) return;
  const auto length = std::min(kLongestPause, kFirstPause * (1 << std::min(failures_++, 10)));
  world_->strand.after(length, [self = shared_from_this()] {
    self->pausing_ = false;
    self->poll();
  });
}

void Poller::interrupt() {
  if (waiting_ && world_->engine.cancel(*waiting_)) waiting_.reset();
}

void Poller::halt() {
  halted_ = true;
  interrupt();
}

}  // namespace redrive::dispatch
