#include "net/http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "net/http/listener.h"
#include "net/http/loop.h"

namespace redrive::http {

namespace {

std::unexpected<Error> cannot_start(const std::system_error& error) {
  return fail(ErrorCode::usage, fmt::format("Cannot start the HTTP server: {}", error.what()));
}

// The loops, their threads, and what runs on the first of them: the listener and the wake timer.
class LoopServer final : public Server {
 public:
  explicit LoopServer(const Options& options);
  ~LoopServer() override;

  Result<void> listen(const Options& options);

  Result<void> run(Hooks hooks) override;
  std::uint16_t port() const override { return listener_.port(); }
  void release(SyncPoint reached) override;
  void answer(const ReplyToken& token,
              const std::function<SyncPoint(std::string* out)>& write) override;
  void resume(ReplyToken token, std::function<SyncPoint(std::string* out)> write,
              metrics::Histogram* whole) override;
  void post(unsigned thread, std::function<void()> work) override;
  void wake_after(std::chrono::milliseconds delay, std::function<void()> work) override;
  void drain(std::chrono::milliseconds grace) override;
  std::size_t connections() const override { return shared_.connections.load(); }
  Totals totals() const override;
  Result<void> reload_tls() override {
    return shared_.tls ? shared_.tls->reload() : Result<void>();
  }

 private:
  static std::vector<std::unique_ptr<Loop>> make_loops(Shared& shared, unsigned count);
  // Round robin.
  void distribute(Accepted accepted);
  bool wait_until_closed(std::chrono::milliseconds time);
  Loop& first() { return *loops_.front(); }

  Shared shared_;
  const std::vector<std::unique_ptr<Loop>> loops_;
  Listener listener_;
  std::atomic<std::uint64_t> wake_last_ = 0;  // Numbers the calls of wake_after.
  // The newest call in effect. Used on the first loop's thread only, like the next three.
  std::uint64_t wake_set_ = 0;
  std::function<void()> wake_work_;
  Poller::Timer wake_timer_;
  std::size_t next_loop_ = 0;
  std::vector<std::thread> threads_;
};

// Connections are closed forcibly when a drain's grace is over; this only bounds the wait until
// each loop has done so.
constexpr std::chrono::milliseconds kCloseTimeMax{5'000};

LoopServer::LoopServer(const Options& options)
    : shared_(options.limits),
      loops_(make_loops(shared_, std::max(options.threads, 1u))),
      listener_(first().poller(), shared_,
                [this](Accepted accepted) { distribute(std::move(accepted)); }),
      wake_timer_(first().poller(), [this] { std::exchange(wake_work_, nullptr)(); }) {}

LoopServer::~LoopServer() {
  const auto close = [this] {
    listener_.close();
    wake_timer_.cancel();
  };
  if (threads_.empty()) {  // It never ran.
    close();
    return;
  }
  first().post(close);
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::unique_ptr<Loop>> LoopServer::make_loops(Shared& shared, unsigned count) {
  std::vector<std::unique_ptr<Loop>> loops;
  for (unsigned index = 0; index < count; ++index) {
    loops.push_back(std::make_unique<Loop>(shared, index));
  }
  return loops;
}

Result<void> LoopServer::listen(const Options& options) {
  if (options.tls) shared_.tls = TRY(TlsContext::load(*options.tls));
  return listener_.open(options.address, options.port);
}

Result<void> LoopServer::run(Hooks hooks) {
  assert(threads_.empty());
  shared_.hooks = std::move(hooks);
  try {
    for (const auto& loop : loops_) {
      threads_.emplace_back([&running = *loop] { running.run(); });
    }
  } catch (const std::system_error& error) {
    return cannot_start(error);
  }
  return {};
}

void LoopServer::distribute(Accepted accepted) {
  Loop& loop = *loops_[next_loop_];
  next_loop_ = (next_loop_ + 1) % loops_.size();
  loop.adopt(std::move(accepted));
}

void LoopServer::release(SyncPoint reached) {
  SyncPoint before = shared_.released.load();
  while (before < reached && !shared_.released.compare_exchange_weak(before, reached)) {
  }
  if (before >= reached) return;  // A concurrent call with a larger value has woken the loops.
  for (const auto& loop : loops_) loop->release(reached);
}

void LoopServer::answer(const ReplyToken& token,
                        const std::function<SyncPoint(std::string* out)>& write) {
  loops_[token.thread % loops_.size()]->answer(token, write);
}

void LoopServer::resume(ReplyToken token, std::function<SyncPoint(std::string* out)> write,
                        metrics::Histogram* whole) {
  loops_[token.thread % loops_.size()]->resume(token, std::move(write), whole);
}

void LoopServer::post(unsigned thread, std::function<void()> work) {
  loops_[thread % loops_.size()]->post(std::move(work));
}

void LoopServer::wake_after(std::chrono::milliseconds delay, std::function<void()> work) {
  const std::uint64_t number = wake_last_.fetch_add(1) + 1;
  auto set = [this, number, due = Poller::Clock::now() + delay, work = std::move(work)]() mutable {
    if (number < wake_set_) return;  // A later call has already been applied.
    wake_set_ = number;
    wake_work_ = std::move(work);
    wake_timer_.set(due);
  };
  // On its own thread, call directly: a posted task would count as work in the next pass.
  if (first().is_own_thread()) return set();
  first().post(std::move(set));
}

void LoopServer::drain(std::chrono::milliseconds grace) {
  first().post([this] { listener_.close(); });
  std::latch begun(static_cast<std::ptrdiff_t>(loops_.size()));
  for (const auto& loop : loops_) {
    loop->start_draining();
    loop->post([&begun] { begun.count_down(); });
  }
  begun.wait();
  if (wait_until_closed(grace)) return;
  for (const auto& loop : loops_) loop->close_all();
  wait_until_closed(kCloseTimeMax);
}

Server::Totals LoopServer::totals() const {
  Totals sum;
  for (const auto& loop : loops_) {
    const LoopTraffic& traffic = std::as_const(*loop).traffic();
    sum.accepted += traffic.accepted.value();
    sum.bytes_received += traffic.bytes_received.value();
    sum.bytes_sent += traffic.bytes_sent.value();
    traffic.pass_micros.add_to(sum.pass_micros);
    sum.handler_micros_max = std::max(sum.handler_micros_max,
                                      traffic.handler_micros_max.load(std::memory_order_relaxed));
  }
  return sum;
}

bool LoopServer::wait_until_closed(std::chrono::milliseconds time) {
  UniqueMutexLock lock(shared_.all_closed_mutex);
  return shared_.all_closed.wait_for(
      shared_.all_closed_mutex, time, [this] { return shared_.connections == 0; });
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(const Options& options) {
  try {
    auto server = std::make_unique<LoopServer>(options);
    RETURN_IF_ERROR(server->listen(options));
    return server;
  } catch (const std::system_error& error) {
    return cannot_start(error);
  }
}

Result<std::unique_ptr<Server>> Server::start(const Options& options, Hooks hooks) {
  auto server = TRY(open(options));
  RETURN_IF_ERROR(server->run(std::move(hooks)));
  return server;
}

}  // namespace redrive::http
