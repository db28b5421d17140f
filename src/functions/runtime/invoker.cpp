#include "functions/runtime/invoker.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/workers.h"
#include "functions/runtime/fleet.h"
#include "functions/runtime/log_files.h"

namespace redrive::runtime {
namespace {

// With fewer waiting than this, the thread is woken for a new invocation.
constexpr unsigned kWaitingMin = 4;

// Logs are saved in the background, rarely enough that a busy function, of which only recent lines
// are kept anyway, costs little.
constexpr std::chrono::seconds kLogsKeptEvery{5};
constexpr std::size_t kLinesTaken = 256;  // At a time, while the function's record is locked.

// One thread runs everything except HTTP calls and cleanup.
class ThreadedInvoker final : public Invoker {
 public:
  explicit ThreadedInvoker(Host host)
      : host_(std::move(host)), log_files_(host_.options().logs), thread_([this] { run(); }) {
    keep_logs_later();
  }

  ~ThreadedInvoker() override {
    post([this] {
      fleet_.shut_down();
      over_ = true;
    });
    thread_.join();
    keeper_.stop();
    keep_logs();
    janitor_.ask([scratch = host_.options().scratch] {
      std::error_code ignored;
      std::filesystem::remove_all(scratch, ignored);
    });
  }

  void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
              std::function<void(Outcome)> done) override {
    const auto lane = what.lane;
    {
      const MutexLock lock(brought_mutex_);
      brought_.push_back(
          {.function = std::move(function), .what = std::move(what), .done = std::move(done)});
    }
    // Enough jobs of its lane wait before it: the thread will look before its turn comes.
    const bool waits = lane && lane->waiting >= kWaitingMin;
    if (!waits) poller_.wake();
  }

  void retire(const std::string& arn) override {
    post([this, arn] { fleet_.retire(arn); });
  }

  void forget(const std::string& arn) override {
    post([this, arn] {
      fleet_.forget(arn);
      janitor_.ask([this, arn] { log_files_.remove(arn); });
    });
  }

  std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                            std::size_t lines_max) override {
    const auto record = fleet_.find_record(arn);
    if (record && record->reaches(after)) return record->lines_after(after, lines_max);
    auto lines = log_files_.lines_after(arn, after, lines_max);
    if (!record) return lines;
    const std::uint64_t kept = lines.empty() ? after : lines.back().sequence;
    for (LogLine& line : record->lines_after(kept, lines_max - lines.size()))
      lines.push_back(std::move(line));
    return lines;
  }

  FunctionStats stats(const std::string& arn) override {
    const auto record = fleet_.find_record(arn);
    return record ? record->stats() : FunctionStats();
  }

  ProcessUse process_use() const override { return fleet_.process_use(); }
  std::string isolation() const override { return host_.isolation(); }

 private:
  void keep_logs() {
    for (const auto& [arn, record] : fleet_.records()) {
      for (auto lines = record->take_unkept(kLinesTaken); !lines.empty();
           lines = record->take_unkept(kLinesTaken)) {
        log_files_.append(arn, lines);
      }
    }
  }

  void keep_logs_later() {
    if (!log_files_.is_used()) return;
    keeper_.run_at(Workers::Clock::now() + kLogsKeptEvery, [this] {
      keep_logs();
      keep_logs_later();
    });
  }

  // Runs after all jobs submitted before.
  void post(std::function<void()> task) {
    poller_.post([this, task = std::move(task)] {
      take_brought();
      task();
    });
  }

  bool take_brought() {
    std::vector<Job> jobs;
    {
      const MutexLock lock(brought_mutex_);
      jobs.swap(brought_);
    }
    for (Job& job : jobs) fleet_.invoke(std::move(job));
    return !jobs.empty();
  }

  void run() {
    // A command may exit without reading all of its input.
    sigset_t pipe;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    for (bool more = true; more;) {
      if (const auto quiet = fleet_.quiet_time(); quiet.count() > 0) poller_.nap(quiet);
      poller_.run_once(over_ ? Poller::Wait::none : Poller::Wait::allowed);
      const bool took = take_brought();
      more = !over_ || took || poller_.has_tasks();
    }
  }

  Host host_;
  LogFiles log_files_;
  Janitor janitor_;
  Poller poller_;
  Fleet fleet_{ProcessServices{.poller = poller_, .host = host_, .janitor = janitor_}};
  bool over_ = false;  // Used by the thread only.
  Mutex brought_mutex_;
  std::vector<Job> brought_ GUARDED_BY(brought_mutex_);
  Workers keeper_{1};
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Invoker>> make_invoker(InvokerOptions options) {
  return std::make_unique<ThreadedInvoker>(TRY(Host::examine(std::move(options))));
}

}  // namespace redrive::runtime
