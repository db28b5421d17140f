#include "runtime/invoker.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/fleet.h"

namespace redrive::runtime {
namespace {

// Fewer than this, and the thread is told of another one at once.
constexpr unsigned kWaitingMin = 4;

// One thread runs everything but HTTP calls and cleaning up.
class ThreadedInvoker final : public Invoker {
 public:
  explicit ThreadedInvoker(Host host) : host_(std::move(host)), thread_([this] { run(); }) {}

  ~ThreadedInvoker() override {
    poller_.post([this] {
      fleet_.shut_down();
      over_ = true;
    });
    thread_.join();
    janitor_.ask([scratch = host_.options().scratch] {
      std::error_code ignored;
      std::filesystem::remove_all(scratch, ignored);
    });
  }

  void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
              std::function<void(Outcome)> done) override {
    if (what.lane && what.lane->waiting >= kWaitingMin) {
      return bring(
          {.function = std::move(function), .what = std::move(what), .done = std::move(done)});
    }
    // Shared, because errands are copied.
    auto job = std::make_shared<Job>(
        Job{.function = std::move(function), .what = std::move(what), .done = std::move(done)});
    poller_.post([this, job = std::move(job)] { fleet_.invoke(std::move(*job)); });
  }

  void retire(const std::string& arn) override {
    poller_.post([this, arn] { fleet_.retire(arn); });
  }

  void forget(const std::string& arn) override {
    poller_.post([this, arn] { fleet_.forget(arn); });
  }

  std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                            std::size_t lines_max) override {
    const auto record = fleet_.find_record(arn);
    return record ? record->lines_after(after, lines_max) : std::vector<LogLine>();
  }

  FunctionStats stats(const std::string& arn) override {
    const auto record = fleet_.find_record(arn);
    return record ? record->stats() : FunctionStats();
  }

  std::string isolation() const override { return host_.isolation(); }

 private:
  // To the end of a lane that is not empty: before its turn comes, the thread will have looked. If
  // the lane is empty by now, it may sleep.
  void bring(Job job) {
    const auto lane = job.what.lane;
    {
      const std::lock_guard lock(brought_mutex_);
      brought_.push_back(std::move(job));
    }
    if (lane->waiting == 0) poller_.wake();
  }

  void take_brought() {
    std::vector<Job> jobs;
    {
      const std::lock_guard lock(brought_mutex_);
      jobs.swap(brought_);
    }
    for (Job& job : jobs) fleet_.invoke(std::move(job));
  }

  void run() {
    // A command need not read its input to the end.
    sigset_t pipe;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    while (!over_ || poller_.has_errands()) {
      if (const auto quiet = fleet_.quiet_time(); quiet.count() > 0) poller_.nap(quiet);
      poller_.run_once(Poller::Wait::allowed);
      take_brought();
    }
  }

  Host host_;
  Janitor janitor_;
  Poller poller_;
  Fleet fleet_{Grounds{.poller = poller_, .host = host_, .janitor = janitor_}};
  bool over_ = false;         // Of the thread's.
  std::mutex brought_mutex_;  // Guards the next.
  std::vector<Job> brought_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Invoker>> make_invoker(InvokerOptions options) {
  return std::make_unique<ThreadedInvoker>(TRY(Host::examine(std::move(options))));
}

}  // namespace redrive::runtime
