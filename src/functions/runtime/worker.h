#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "functions/runtime/api_connection.h"
#include "functions/runtime/error_document.h"
#include "functions/runtime/invocation_log.h"
#include "functions/runtime/invoker.h"
#include "functions/runtime/process.h"

namespace redrive::runtime {

using SteadyTime = std::chrono::steady_clock::time_point;

// An invocation in progress.
struct Job {
  std::shared_ptr<const FunctionSpec> function;
  Invocation what;
  std::function<void(Outcome)> done;
  SteadyTime asked;
  bool is_admitted = false;  // Counted as active, also in its lane: it runs, or soon will.
  bool waited_for_process = false;
};

// One process of a function, reused for many invocations, and its Runtime API on a port of its own.
// Lives on the poller's thread.
//
//   starting ─▶ waiting ─▶ running ─▶ answered ─▶ waiting
//
// and from everywhere to `ending`. Invariant: there is a job only in `running`, and in `ending`
// until the process has exited; it is finished exactly once.
//
// A process that supports it may be sent events ahead, which it starts without waiting for us. The
// first of them becomes the current job as soon as the previous one has an outcome and the process
// asks for the next event. Invariant: there are jobs ahead only behind a current job, or between
// its end and that request; each gets an outcome or is given back, exactly once.
class Worker final : private ApiConnection::Owner {
 public:
  enum class State : std::uint8_t { starting, waiting, running, answered, ending, gone };

  // Receives the worker's notifications.
  class Manager {
   public:
    // It waits for an event.
    virtual void on_ready(Worker& worker) = 0;
    // Its job has an outcome and no longer belongs to the worker, which continues with the first of
    // the jobs ahead, if any.
    virtual void on_finished(Worker& worker, Job job, Outcome outcome) = 0;
    // It has started the first of the jobs ahead.
    virtual void on_went_on(Worker& worker) = 0;
    // Jobs ahead that it will not start, in order.
    virtual void on_returned(Worker& worker, std::deque<Job> jobs) = 0;
    // It will never be ready. Invocations that waited for it get init_outcome().
    virtual void on_init_failed(Worker& worker) = 0;
    // The process has exited; free the worker with a posted task.
    virtual void on_gone(Worker& worker) = 0;

   protected:
    ~Manager() = default;
  };

  Worker(const ProcessServices& services, Manager& manager,
         std::shared_ptr<const FunctionSpec> function, std::shared_ptr<FunctionRecord> record);

  Result<void> start();
  // Sends it an event; it must be waiting.
  void give(Job job);
  // Whether it may be sent another event while it runs: it is quick enough that none waits for
  // long.
  bool takes_ahead() const;
  void give_ahead(Job job);
  // Estimated time for the jobs ahead.
  std::chrono::microseconds time_ahead() const {
    return state_ == State::running ? usual_time_ * static_cast<int>(ahead_.size())
                                    : std::chrono::microseconds();
  }
  std::deque<Job>& ahead() { return ahead_; }
  const std::optional<Job>& job() const { return job_; }
  // Asks the process to exit, after its current job if it has one.
  void retire();
  // Enforces time and memory limits.
  void check(SteadyTime now);
  // Takes its jobs away and kills the process.
  std::deque<Job> abandon();
  // After on_init_failed: the outcome for an invocation that waited for it.
  Outcome init_outcome(const Job& job);

  State state() const { return state_; }
  // It will be ready soon: it is starting, or has just answered.
  bool is_coming(SteadyTime now) const;
  bool is_retired() const { return retired_; }
  const FunctionSpec& function() const { return *function_; }
  SteadyTime due() const { return due_; }
  SteadyTime waiting_since() const { return waiting_since_; }

 private:
  // Why we killed the process.
  enum class KillReason : std::uint8_t { none, timeout, memory };

  // The Runtime API.
  struct Refusal;
  void on_bytes() override { is_log_read_ = false; }
  void on_request(ApiConnection& connection, const http::Request& request) override;
  void on_refused(ApiConnection& connection, int status) override;
  void on_closed(ApiConnection& connection) override;
  void on_next(ApiConnection& connection, bool asks_ahead);
  void on_init_error(ApiConnection& connection, const http::Request& request);
  void on_result(ApiConnection& connection, const http::Request& request, std::string_view tail);
  std::optional<Refusal> take_result(const http::Request& request, std::string_view tail);
  Outcome outcome_of(const http::Request& request, bool is_error) const;
  void begin(Job job);
  void go_on(ApiConnection& connection);
  void give_back_ahead();
  struct Enclosed;
  Enclosed enclosed_with(const Invocation& what) const;
  void send_event(const Invocation& what);
  void send_ahead(const Invocation& what);
  void accept_connections();
  void admit(Descriptor socket);
  Result<std::uint16_t> listen();
  // Creates the inherited pipes; returns the ends for the process.
  PipeEnds link();
  bool adopt(Descriptor input, Descriptor output);

  void take_output(std::string_view text);
  void take_log(std::string_view text);
  void log_line(std::string_view text);
  void record_line(std::string_view request_id, std::string_view line);
  std::string_view task_directory() const {
    return process_ ? std::string_view(process_->task_directory()) : std::string_view();
  }
  void begin_log(std::string_view request_id);
  void end_log(std::string_view request_id, Outcome& outcome);
  void finish(Outcome outcome, std::optional<std::chrono::microseconds> duration = {});
  void kill_for(KillReason reason);
  void on_exit(int wait_status);
  Outcome outcome_of_exit(std::string_view request_id) const;
  void end_within(std::chrono::milliseconds time);
  std::string_view request_id() const { return job_ ? job_->what.request_id : std::string_view(); }

  ProcessServices services_;
  Manager& manager_;
  const std::shared_ptr<const FunctionSpec> function_;
  const std::shared_ptr<FunctionRecord> record_;
  State state_ = State::starting;
  bool retired_ = false;
  KillReason kill_reason_ = KillReason::none;
  SteadyTime due_ = SteadyTime::max();
  SteadyTime waiting_since_{};
  SteadyTime answered_at_{};
  std::optional<Job> job_;
  std::deque<Job> ahead_;
  bool knows_ahead_ = false;  // It supports events sent ahead.
  std::string reads_;         // The event format it reads besides JSON.
  bool is_over_ = false;      // The process has exited; its last output is being read.
  // Moving average of its jobs.
  std::chrono::microseconds usual_time_ = std::chrono::microseconds::max();
  SteadyTime started_{};   // Start of the process, then of the job.
  SteadyTime measured_{};  // When its memory was last checked.
  std::chrono::system_clock::time_point deadline_wall_{};
  bool initialised_ = false;                                // It has asked for an event.
  std::optional<std::chrono::microseconds> init_duration_;  // Until reported.
  std::optional<Outcome> init_error_;                       // As reported by the runtime.
  int wait_status_ = 0;
  bool is_log_read_ = false;  // The log written before the last bytes received has been read.
  InvocationLog log_;
  LineSplitter lines_;
  MarkFinder marks_;
  bool mark_due_ = false;          // The job was sent ahead, and its marker has not been read yet.
  std::deque<std::string> early_;  // Output of jobs ahead that have already started.
  std::unique_ptr<Process> process_;
  Watch listener_;
  std::vector<std::shared_ptr<ApiConnection>> connections_;
  ApiConnection* waiting_on_ = nullptr;  // Connection whose `next` request is unanswered.
  ApiConnection* sent_on_ = nullptr;     // Connection that the job's event was sent on.
};

}  // namespace redrive::runtime
