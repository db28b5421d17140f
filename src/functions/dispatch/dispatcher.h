#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "functions/dispatch/async_runner.h"
#include "functions/dispatch/definitions.h"
#include "functions/dispatch/delivery.h"
#include "functions/dispatch/mapping_runner.h"
#include "functions/dispatch/world.h"

namespace redrive::dispatch {

// Delivers messages to functions: event source mappings and asynchronous invocations.
//
// All decisions are made on one strand; blocking work (buckets, webhooks) runs on a few workers,
// functions in the invoker. The engine owns the messages and their fates, so nothing is lost in a
// restart: messages in progress become visible again when their visibility timeout ends.
class Dispatcher {
 public:
  struct Parts {
    engine::Engine& engine;
    runtime::Invoker& invoker;
    objects::Store* buckets = nullptr;         // For destinations that are buckets.
    std::function<Definitions()> definitions;  // Called at reload, on the strand.
    metrics::FunctionRegistry* measured = nullptr;
    // For destinations that are URLs.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
  };
  struct Hooks {
    // Something was recorded that no caller will request a sync for.
    std::function<void()> sync_wanted;
    std::function<void(std::string)> log;
    // A function ran for a mapping or an asynchronous invocation. Called on the strand, so it must
    // be quick.
    std::function<void(const RunReport&)> ran = {};
  };
  struct Options {
    unsigned concurrency_max = 1000;  // For mappings without a limit of their own.
    unsigned processes_max = runtime::kProcessesDefault;  // Limit of the invoker.
    Strand::Mode mode = Strand::Mode::thread;
    // Start a handler only after the receive of its messages is durable, so that no crash forgets a
    // run that has started. Needs note_synced().
    bool wait_for_sync = false;
  };
  Dispatcher(Parts parts, Hooks hooks, Options options);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Call at start and whenever functions, mappings or invoke settings have changed. Thread-safe.
  void reload();

  // Everything up to `synced` is durable. Thread-safe.
  void note_synced(engine::Sequence synced);

  // Accepts an event for a function, which must exist. Durable once the sequence is synced. Every
  // attempt has the event's request id. Thread-safe.
  Result<engine::Sequence> invoke_async(const functions::FunctionId& function,
                                        const runtime::Invocation& event);

  // Stops receiving and waits up to `patience` for running batches. The others become visible
  // again. Call before the invoker stops.
  void stop(std::chrono::milliseconds patience);

  struct Stats {
    std::map<std::string, std::shared_ptr<const MappingStats>> mappings;  // By UUID.
    std::map<std::string, std::shared_ptr<const AsyncStats>> functions;   // By ARN.
  };
  Stats stats() const;

  // Whether the mapping may still receive messages or is processing some: also after it was
  // disabled, until its poller is done. Thread-safe.
  bool is_engaged(const std::string& mapping) const;

  // For tests: runs pending work, optionally while time passes.
  Strand& strand() { return world_->strand; }

 private:
  void adopt(Definitions definitions);
  void adopt_mappings(const std::vector<functions::Mapping>& mappings);
  void adopt_functions();
  void forget_orphans();
  std::shared_ptr<const Plan> plan_of(const functions::Mapping& mapping);
  void wake_async(const std::string& function_arn);
  void retire_all();
  bool busy() const;
  void report_idle(std::promise<void>& idle);

  const std::function<Definitions()> definitions_;
  const std::shared_ptr<World> world_;
  // Used on the strand only, like the next two. Retired runners are kept until they are done.
  std::map<std::string, std::shared_ptr<MappingRunner>> mappings_;
  std::map<std::string, std::shared_ptr<AsyncRunner>> async_;
  std::vector<std::shared_ptr<Poller>> retired_;
  Definitions known_;
  bool stopping_ = false;
  bool stopped_ = false;  // Used by the owner's thread.
  mutable Mutex stats_mutex_;
  Stats stats_ GUARDED_BY(stats_mutex_);
  std::multimap<std::string, std::shared_ptr<const MappingStats>> retiring_
      GUARDED_BY(stats_mutex_);  // By UUID.
};

}  // namespace redrive::dispatch
