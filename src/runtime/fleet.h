#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/command_run.h"
#include "runtime/http_calls.h"
#include "runtime/worker.h"

namespace redrive::runtime {

// All processes of all functions: who gets a warm one, who a new one, who has to wait and who is
// turned away. Lives on the poller's thread, except where said.
//
// Always true: processes alive are at most processes_max; of a function's accepted invocations at
// most its reserved concurrency are unfinished; a job is in a lane, in a pool's queue, in one
// worker, in one command or in one call, and ends exactly once. Who waits in a lane waits for one
// that runs.
class Fleet final : private Worker::Manager {
 public:
  explicit Fleet(const Grounds& grounds);

  void invoke(Job job);
  void retire(const std::string& arn);
  // The same, and nothing is known of it any more.
  void forget(const std::string& arn);
  // Everything ends now, without verdicts.
  void shut_down();

  // How long everybody who runs has enough to do, if they all have something ahead; else nothing.
  std::chrono::microseconds quiet_time() const;

  // From any thread.
  ProcessUse process_use() const;
  // From any thread. Null when nothing is known of the function.
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
  // False: it waits there, and is not the caller's any more.
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
  bool has_room() const { return processes_ < grounds_.host.options().processes_max; }
  void make_room();
  void retire_others(Pool& pool, const std::string& revision);
  bool is_somebody_starved(const Pool& except) const;
  void refresh(Pool& pool);
  void arm(SteadyTime due);
  void tick();
  void turn_away_late(Pool& pool, SteadyTime now);

  Grounds grounds_;
  Poller::Timer timer_;
  SteadyTime timer_due_ = SteadyTime::max();
  bool ending_ = false;
  std::atomic<unsigned> processes_ = 0;  // Changed by the poller's thread alone.
  std::atomic<std::uint64_t> process_waits_ = 0;
  SteadyTime shortage_logged_;
  std::map<std::string, Pool> pools_;
  struct LaneUse {
    unsigned running = 0;
    std::deque<Job> waiting;
  };
  std::map<const Lane*, LaneUse> lanes_;  // Those in use.
  std::vector<std::shared_ptr<CommandRun>> commands_;
  std::map<std::uint64_t, Job> calls_;  // Of HTTP, under way.
  std::uint64_t call_last_ = 0;

  mutable std::mutex records_mutex_;  // Guards the next.
  std::map<std::string, std::shared_ptr<FunctionRecord>> records_;
  HttpCalls http_;  // Last: its threads call us until it is gone.
};

}  // namespace redrive::runtime
