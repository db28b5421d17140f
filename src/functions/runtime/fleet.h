#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "functions/runtime/command_run.h"
#include "functions/runtime/http_calls.h"
#include "functions/runtime/worker.h"

namespace redrive::runtime {

// Manages all processes of all functions: which invocation gets a warm process, gets a new one,
// waits, or is throttled. Lives on the poller's thread, except as noted.
//
// Invariants: at most processes_max processes are alive; at most a function's reserved concurrency
// of its accepted invocations are unfinished; a job is in a lane, in a pool's queue, in one worker,
// in one command or in one call, and ends exactly once. A job waits in a lane only while another
// job of the lane runs.
class Fleet final : private Worker::Manager {
 public:
  explicit Fleet(const ProcessServices& services);

  void invoke(Job job);
  void retire(const std::string& arn);
  // Like retire(), and drops the function's record.
  void forget(const std::string& arn);
  // Ends everything now; jobs get a service error.
  void shut_down();

  // How long all running processes have enough work, if they all have events ahead; else zero.
  std::chrono::microseconds quiet_time() const;

  // Thread-safe.
  ProcessUse process_use() const;
  // Thread-safe. Null if the function is unknown.
  std::shared_ptr<FunctionRecord> find_record(const std::string& arn) const;
  std::map<std::string, std::shared_ptr<FunctionRecord>> records() const;

 private:
  // One function, by its ARN.
  struct Pool {
    std::shared_ptr<FunctionRecord> record;
    std::deque<Job> queue;
    std::vector<std::shared_ptr<Worker>> workers;
    std::string revision;  // Of the last invocation.
    unsigned active = 0;   // Jobs that were accepted and have not ended.
  };

  void on_ready(Worker& worker) override;
  void on_finished(Worker& worker, Job job, Outcome outcome) override;
  void on_went_on(Worker& worker) override;
  void on_returned(Worker& worker, std::deque<Job> jobs) override;
  void on_init_failed(Worker& worker) override;
  void on_gone(Worker& worker) override;

  Pool& pool_of(const std::string& arn);
  Pool& pool_of(const Worker& worker) { return pool_of(worker.function().arn); }
  std::shared_ptr<FunctionRecord> record_of(const std::string& arn);
  // Returns false if the job now waits in its lane, which then owns it.
  bool enter_lane(Job& job);
  void leave_lane(const Job& job);
  void admit(Job job);
  void complete(Pool& pool, const Job& job, Outcome outcome);
  void tell(Pool& pool, const Job& job, Outcome outcome);
  void offer_ahead(Worker& worker);
  void take_back(Pool& pool, std::deque<Job> jobs);
  void pump(Pool& pool);
  void pump_all();
  bool hand_over_front(Pool& pool);
  Job* find_uncovered(Pool& pool) const;
  void note_shortage(Job& job);
  void start_workers(Pool& pool);
  void start_worker(Pool& pool, std::shared_ptr<const FunctionSpec> function);
  void start_command(Pool& pool);
  void start_call(Pool& pool, Job job);
  void end_call(const std::string& arn, std::uint64_t call, Outcome outcome);
  bool has_process_slot() const { return processes_ < services_.host.options().processes_max; }
  void end_idle_process();
  void retire_others(Pool& pool, const std::string& revision);
  bool is_another_pool_starved(const Pool& except) const;
  void refresh(Pool& pool);
  void arm(SteadyTime due);
  void tick();
  void throttle_late(Pool& pool, SteadyTime now);

  ProcessServices services_;
  Poller::Timer timer_;
  SteadyTime timer_due_ = SteadyTime::max();
  bool ending_ = false;
  std::atomic<unsigned> processes_ = 0;  // Modified only by the poller's thread.
  std::atomic<std::uint64_t> process_waits_ = 0;
  SteadyTime shortage_logged_;
  std::map<std::string, Pool> pools_;
  struct LaneUse {
    unsigned running = 0;
    std::deque<Job> waiting;
  };
  std::map<const Lane*, LaneUse> lanes_;  // Lanes in use.
  std::vector<std::shared_ptr<CommandRun>> commands_;
  std::map<std::uint64_t, Job> calls_;  // HTTP calls in progress.
  std::uint64_t call_last_ = 0;

  mutable Mutex records_mutex_;
  std::map<std::string, std::shared_ptr<FunctionRecord>> records_ GUARDED_BY(records_mutex_);
  HttpCalls http_;  // Last member: its threads call back until it is destroyed.
};

}  // namespace redrive::runtime
