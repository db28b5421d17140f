#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api_connection.h"
#include "runtime/error_document.h"
#include "runtime/invocation_log.h"
#include "runtime/invoker.h"
#include "runtime/process.h"

namespace redrive::runtime {

using SteadyTime = std::chrono::steady_clock::time_point;

// An invocation on its way to an outcome.
struct Job {
  std::shared_ptr<const FunctionSpec> function;
  Invocation what;
  std::function<void(Outcome)> done;
  SteadyTime asked;
  bool is_admitted = false;  // Counted where it is, and in its lane: it runs, or soon will.
  bool waited_for_process = false;
};

// One process of a function that is kept for invocation after invocation, and the Runtime API that
// it is fed through, on a port of its own. Lives on the poller's thread.
//
//   starting ─▶ waiting ─▶ running ─▶ answered ─▶ waiting
//
// and from everywhere to `ending`. Always true: a job is in `running`, or in `ending` until the
// process is gone, and nowhere else; it is finished exactly once.
//
// A process that can may be sent events ahead, which it begins without having to wait for them. Of
// those jobs the first becomes the job as soon as the one before it has an outcome and the process
// asks for the next event. Always true: there are jobs ahead only behind a job, or from its end to
// that question; they have an outcome or are given back, exactly once.
class Worker final : private ApiConnection::Owner {
 public:
  enum class State : std::uint8_t { starting, waiting, running, answered, ending, gone };

  // Whom a worker tells what happens to it.
  class Manager {
   public:
    // It waits for an event.
    virtual void on_ready(Worker& worker) = 0;
    // Its job has an outcome; `job` is not the worker's any more. It goes on with the first of the
    // jobs ahead, if there are any.
    virtual void on_finished(Worker& worker, Job job, Outcome outcome) = 0;
    // It has begun the first of the jobs ahead.
    virtual void on_went_on(Worker& worker) = 0;
    // Jobs ahead that it will not begin, in their order.
    virtual void on_returned(Worker& worker, std::deque<Job> jobs) = 0;
    // It will never be ready. Whoever waited for it gets init_outcome().
    virtual void on_init_failed(Worker& worker) = 0;
    // The process has ended; the worker is to be freed by an errand.
    virtual void on_gone(Worker& worker) = 0;

   protected:
    ~Manager() = default;
  };

  Worker(const Grounds& grounds, Manager& manager, std::shared_ptr<const FunctionSpec> function,
         std::shared_ptr<FunctionRecord> record);

  Result<void> start();
  // Gives it an event; it must be waiting.
  void give(Job job);
  // Whether it may be sent one more while it runs: it is quick, so that none waits for long.
  bool takes_ahead() const;
  void give_ahead(Job job);
  // What the jobs ahead will take, if they are like those before.
  std::chrono::microseconds time_ahead() const {
    return state_ == State::running ? usual_time_ * static_cast<int>(ahead_.size())
                                    : std::chrono::microseconds();
  }
  std::deque<Job>& ahead() { return ahead_; }
  const std::optional<Job>& job() const { return job_; }
  // Asks the process to end, when it has no job; else it is asked after the job.
  void retire();
  // Ends what has taken too long, or too much.
  void check(SteadyTime now);
  // Takes its jobs away and ends the process at once.
  std::deque<Job> abandon();
  // After on_init_failed: what became of that invocation.
  Outcome init_outcome(const Job& job);

  State state() const { return state_; }
  // It will be ready soon: it starts, or has just answered.
  bool is_coming(SteadyTime now) const;
  bool is_retired() const { return retired_; }
  const FunctionSpec& function() const { return *function_; }
  SteadyTime due() const { return due_; }
  SteadyTime waiting_since() const { return waiting_since_; }

 private:
  // Why we ended the process.
  enum class Sentence : std::uint8_t { none, timeout, memory };

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
  // A connection that the process is born with; the ends that are for it.
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
  void kill_for(Sentence sentence);
  void on_exit(int wait_status);
  Outcome outcome_of_exit(std::string_view request_id) const;
  void end_within(std::chrono::milliseconds time);
  std::string_view request_id() const { return job_ ? job_->what.request_id : std::string_view(); }

  Grounds grounds_;
  Manager& manager_;
  const std::shared_ptr<const FunctionSpec> function_;
  const std::shared_ptr<FunctionRecord> record_;
  State state_ = State::starting;
  bool retired_ = false;
  Sentence sentence_ = Sentence::none;
  SteadyTime due_ = SteadyTime::max();
  SteadyTime waiting_since_{};
  SteadyTime answered_at_{};
  std::optional<Job> job_;
  std::deque<Job> ahead_;
  bool knows_ahead_ = false;  // What it is to do with events ahead.
  std::string reads_;         // The format of events that it reads besides JSON.
  bool is_over_ = false;      // The process is; what it said last is being read.
  std::chrono::microseconds usual_time_ = std::chrono::microseconds::max();  // Of its jobs.
  SteadyTime started_{};   // Of the process, then of the job.
  SteadyTime measured_{};  // When its memory was last looked at.
  std::chrono::system_clock::time_point deadline_wall_{};
  bool initialised_ = false;                                // It has asked for an event.
  std::optional<std::chrono::microseconds> init_duration_;  // Until it was reported.
  std::optional<Outcome> init_error_;                       // As the runtime told it.
  int wait_status_ = 0;
  bool is_log_read_ = false;  // What was written before the last bytes came is.
  InvocationLog log_;
  LineSplitter lines_;
  MarkFinder marks_;
  bool mark_due_ = false;          // The job came ahead, and its mark has not been read.
  std::deque<std::string> early_;  // What was written by jobs ahead, as far as they have begun.
  std::unique_ptr<Process> process_;
  Watch listener_;
  std::vector<std::shared_ptr<ApiConnection>> connections_;
  ApiConnection* waiting_on_ = nullptr;  // Whose `next` has no answer.
  ApiConnection* sent_on_ = nullptr;     // Which the event of the job went to.
};

}  // namespace redrive::runtime
