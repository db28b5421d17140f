#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dispatch/async_runner.h"
#include "dispatch/courier.h"
#include "dispatch/definitions.h"
#include "dispatch/mapping_runner.h"
#include "dispatch/world.h"

namespace redrive::dispatch {

// Brings messages to functions: event source mappings and asynchronous invocations.
//
// Everything that decides runs on one strand; what blocks (buckets, webhooks) on a few workers;
// functions run in the invoker. Messages and their fates are the engine's, so that a restart finds
// everything: what was under way becomes visible again when its time is over.
class Dispatcher {
 public:
  struct Parts {
    engine::Engine& engine;
    runtime::Invoker& invoker;
    objects::Store* buckets = nullptr;         // For destinations that are buckets.
    std::function<Definitions()> definitions;  // Asked at reload, on the strand.
    metrics::FunctionRegistry* measured = nullptr;
    // For destinations that are URLs.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
  };
  struct Hooks {
    // Something was recorded that no caller is going to ask a sync for.
    std::function<void()> sync_wanted;
    std::function<void(std::string)> log;
    // A function ran for a mapping or for an asynchronous invocation; on the strand, so not for
    // long.
    std::function<void(const RunReport&)> ran = {};
  };
  struct Options {
    unsigned concurrency_max = 1000;  // Of mappings that have no limit of their own.
    unsigned processes_max = runtime::kProcessesDefault;  // What the invoker runs at most.
    Strand::Mode mode = Strand::Mode::thread;
    // A handler begins when it is durable that its messages were received, so that no crash
    // forgets a run that has begun. Needs note_synced().
    bool wait_for_sync = false;
  };
  Dispatcher(Parts parts, Hooks hooks, Options options);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Functions, mappings or settings of invocations are not what they were: to be called at start
  // and whenever they changed. From any thread.
  void reload();

  // Everything up to here is durable. From any thread.
  void note_synced(engine::Sequence synced);

  // Accepts an event for a function, which must exist. It is safe when the sequence is synced. Its
  // request id is that of every attempt. From any thread.
  Result<engine::Sequence> invoke_async(const functions::FunctionId& function,
                                        const runtime::Invocation& event);

  // Receives nothing more, and lets what runs come to its end, for so long at most. What does not
  // becomes visible again. To be called before the invoker stops.
  void stop(std::chrono::milliseconds patience);

  struct Stats {
    std::map<std::string, std::shared_ptr<const MappingStats>> mappings;  // By UUID.
    std::map<std::string, std::shared_ptr<const AsyncStats>> functions;   // By ARN.
  };
  Stats stats() const;

  // Whether messages may still be received for the mapping, or are being worked on: also after it
  // was disabled, until its poller has let go. From any thread.
  bool is_engaged(const std::string& mapping) const;

  // For tests: what there is to do now, and while real time passes.
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
  // On the strand, like the next. Runners that have been retired stay until they have ended.
  std::map<std::string, std::shared_ptr<MappingRunner>> mappings_;
  std::map<std::string, std::shared_ptr<AsyncRunner>> async_;
  std::vector<std::shared_ptr<Poller>> retired_;
  Definitions known_;
  bool stopping_ = false;
  bool stopped_ = false;            // Of the owner's thread.
  mutable std::mutex stats_mutex_;  // Guards stats_ and retiring_.
  Stats stats_;
  std::multimap<std::string, std::shared_ptr<const MappingStats>> retiring_;  // By UUID.
};

}  // namespace redrive::dispatch
