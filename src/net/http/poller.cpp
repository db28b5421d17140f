#include "net/http/poller.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace redrive::http {

void Descriptor::close() {
  if (!is_open()) return;
  // Fails harmlessly if the epoll is already closed.
  if (epoll_ >= 0) ::epoll_ctl(std::exchange(epoll_, -1), EPOLL_CTL_DEL, number_, nullptr);
  ::close(std::exchange(number_, -1));
}

Poller::Timer::Timer(Poller& poller, std::function<void()> work)
    : poller_(poller), work_(std::move(work)) {
  poller_.timers_.push_back(this);
}

Poller::Timer::~Timer() {
  std::erase(poller_.timers_, this);
}

Poller::Poller()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  // Edge-triggered like all others: each write is a new event, so the counter need not be read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  const bool made = epoll_.is_open() && wake_event_.is_open() &&
                    ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, wake_event_.number(), &event) == 0;
  if (!made) throw std::system_error(errno, std::generic_category(), "epoll");
}

bool Poller::watch(Descriptor& descriptor, Watcher& watcher) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &watcher}};
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor.number(), &event) != 0) return false;
  descriptor.epoll_ = epoll_.number();
  return true;
}

bool Poller::run_once(Wait wait) {
  sleeping_.store(wait == Wait::allowed);
  const int timeout_ms = woken_.load() ? 0 : sleep_ms(wait);
  bool worked = dispatch_events(timeout_ms);
  call_timers();
  worked |= run_tasks();
  return worked;
}

void Poller::nap(std::chrono::microseconds time) {
  sleeping_.store(true);
  if (!woken_.load()) {
    pollfd woken{.fd = wake_event_.number(), .events = POLLIN, .revents = 0};
    const timespec limit{.tv_sec = time.count() / 1'000'000,
                         .tv_nsec = time.count() % 1'000'000 * 1'000};
    std::uint64_t count = 0;
    // The counter is read only here; it may hold earlier wake-ups.
    if (::ppoll(&woken, 1, &limit, nullptr) > 0)
      (void)!::read(wake_event_.number(), &count, sizeof count);
  }
  sleeping_.store(false);
}

// Rounded up: waking before a timer is due would spin until it is.
int Poller::sleep_ms(Wait wait) {
  if (wait == Wait::none) return 0;
  Clock::time_point due = kNever;
  for (const Timer* timer : timers_) due = std::min(due, timer->due_);
  if (due == kNever && passes_ == nullptr) return -1;
  const Clock::time_point now = Clock::now();
  note_pass(now);
  if (due == kNever) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now);
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void Poller::note_pass(Clock::time_point ended) {
  const Clock::time_point began = std::exchange(pass_began_, kNever);
  if (passes_ == nullptr || began == kNever) return;
  pass_ended_ = ended;
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(ended - began);
  passes_->record(static_cast<std::uint64_t>(taken.count()));
}

bool Poller::dispatch_events(int timeout_ms) {
  std::array<epoll_event, kEventsMax> events;
  const int count = ::epoll_wait(epoll_.number(), events.data(), kEventsMax, timeout_ms);
  sleeping_.store(false);
  now_ = Clock::now();
  note_pass(now_);  // For a pass without sleep; sleep_ms() records the others.
  pass_began_ = now_;
  woken_.store(false);  // Before checking anything that a wake() may be about.
  bool told = false;
  for (int i = 0; i < count; ++i) {
    auto* const watcher = static_cast<Watcher*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (watcher == nullptr) continue;
    watcher->on_events(events[static_cast<std::size_t>(i)].events);
    told = true;
  }
  return told;
}

void Poller::call_timers() {
  for (Timer* timer : timers_) {
    if (timer->due_ > now_) continue;
    timer->due_ = kNever;
    timer->work_();
  }
}

bool Poller::run_tasks() {
  {
    const MutexLock lock(mutex_);
    running_.swap(tasks_);
  }
  for (const auto& task : running_) task();
  const bool ran = !running_.empty();
  running_.clear();
  return ran;
}

void Poller::post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake();
}

bool Poller::has_tasks() const {
  const MutexLock lock(mutex_);
  return !tasks_.empty();
}

void Poller::wake() {
  if (woken_.exchange(true) || !sleeping_.load()) return;
  const std::uint64_t one = 1;
  // Cannot fail: that would take more wake-ups than a 64-bit counter can hold.
  (void)!::write(wake_event_.number(), &one, sizeof one);
}

}  // namespace redrive::http
