#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/scratch_directory.h"
#include "aws/lambda/code_store.h"
#include "aws/lambda/functions.h"
#include "aws/lambda/service.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "functions/dispatch/dispatcher.h"
#include "functions/runtime/invoker.h"
#include "objects/store.h"
#include "observe/metrics/function_metrics.h"
#include "observe/monitor/measured_invoker.h"

namespace redrive::app {

// Everything about functions, joined: their code, the processes they run in, the queues that feed
// them, and the API that defines them.
class Handlers {
 public:
  struct Parts {
    const Config& config;
    engine::Engine& engine;
    front::Gate& gate;
    objects::Store& buckets;
    IdSource& ids;
    std::function<std::string()> endpoint_url;  // Where handlers find this server.
    std::function<void()> sync_wanted;
    front::Observers observers;
    std::function<void(const dispatch::RunReport&)> ran = {};  // See dispatch::Dispatcher::Hooks.
    bool directories = false;                                  // See lambda::Parts.
    OutgoingPolicies outgoing = {};
    lambda::RolePermissions role_permissions = {};
    lambda::RoleId role_id = {};
  };
  static std::unique_ptr<Handlers> make(Parts parts);
  ~Handlers();
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

  // Before the first request. Requests may come from then on; queues are polled after start().
  void attach(http::Server& server) { service_->attach(server); }
  void start() { reload(); }
  // The catalogue has changed.
  void reload() {
    functions_.keys().refresh();
    dispatcher_->reload();
  }
  // Roles or their policies have changed.
  void refresh_keys() { functions_.keys().refresh(); }
  // Everything up to here is durable. From any thread.
  void note_synced(journal::Sequence synced) { dispatcher_->note_synced(synced); }
  void handle(http::Exchange& exchange) { service_->handle(exchange); }
  // Stops receiving from queues and waits up to `patience` for running batches.
  void stop(std::chrono::milliseconds patience);
  // When requests have been answered, and while the server is still there.
  void close() { service_->stop(); }

  const dispatch::Dispatcher& dispatcher() const { return *dispatcher_; }
  // Invokes a function asynchronously.
  Result<void> invoke_async(const std::string& arn, const std::string& payload);
  // Whether there is a function, version or alias of that ARN.
  bool has_function(const std::string& arn) { return functions_.find(arn).has_value(); }
  // Copies the dispatcher's counts into the metrics.
  void count_into(metrics::FunctionRegistry& registry) const;
  runtime::Invoker& invoker() { return *invoker_; }

 private:
  explicit Handlers(const Parts& parts);
  void open(const Parts& parts);
  dispatch::Definitions definitions();

  engine::Engine& engine_;
  const ScratchDirectory scratch_;
  lambda::CodeStore code_;
  lambda::Functions functions_;
  std::unique_ptr<runtime::Invoker> invoker_;
  monitor::MeasuredInvoker* measured_ = nullptr;  // The same.
  std::unique_ptr<dispatch::Dispatcher> dispatcher_;
  std::unique_ptr<lambda::Service> service_;
};

}  // namespace redrive::app
