#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "app/audit_log.h"
#include "app/config.h"
#include "app/engine_clock.h"
#include "app/event_log.h"
#include "app/handlers.h"
#include "app/maintenance.h"
#include "app/monitoring.h"
#include "app/notices.h"
#include "app/offload.h"
#include "app/opened.h"
#include "app/refusals.h"
#include "app/router.h"
#include "app/syncing.h"
#include "app/ticker.h"
#include "app/tracing.h"
#include "aws/iam/service.h"
#include "aws/s3/service.h"
#include "aws/sqs/service.h"
#include "aws/ssm/service.h"
#include "base/workers.h"
#include "core/engine/engine.h"
#include "core/engine/time_travel.h"
#include "dead_letters/dead_letters.h"
#include "manage/service.h"

namespace redrive::app {

// A server: constructs all parts and connects them.
//
// Members are in construction order, and each uses only members above it. Three parts are used by
// parts above them: Syncing, Ticker and Notices exist before the engine, which calls them, and are
// given what they need in return by their attach().
class App {
 public:
  // `config` is one that check_config() accepts. It and `log` outlive the App.
  App(const Config& config, EventLog& log, Opened opened);
  ~App();  // Stops if it runs.
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // Begins to answer requests. Call it once.
  Result<void> start();
  // Reads certificate and keys again and reopens the audit log. What cannot be read is logged and
  // stays as it was.
  void reload();
  // Answers what has begun, for Config::drain_time at most, and syncs what is left.
  void stop();

  std::uint16_t port() const { return port_; }

 private:
  front::Offload offload_hook();
  engine::Engine::Hooks engine_hooks();
  dead_letters::Options dead_letter_options();
  std::unique_ptr<engine::TimeTravel> make_time();
  std::unique_ptr<Tracing> make_tracing();
  front::Observers make_observers();
  Monitoring::Parts monitoring_parts();
  sqs::Service::Hooks service_hooks();
  Handlers::Parts handlers_parts();
  manage::Parts management_parts();
  EndpointTable endpoints();
  void add_metrics(EndpointTable& table);
  std::optional<http::BrowserGuard> guard() const;
  void attach_parts();
  Result<void> reload_keys();

  const Config& config_;
  const ListenAddress listen_;
  const OutgoingPolicies outgoing_;
  const std::unique_ptr<IdSource> ids_;
  const std::unique_ptr<Storage> storage_;
  const std::unique_ptr<Buckets> buckets_;
  AuditLog audit_;
  EventLog& log_;
  std::unique_ptr<http::Server> server_;  // Runs between start() and stop(), which destroys it.
  const std::uint16_t port_;

  metrics::ServerMetrics recorded_;
  EngineClock clock_;
  Syncing syncing_;
  Ticker ticker_;
  Notices notices_;
  Workers jobs_{1};  // Reads what redrive jobs filter and change.
  engine::Engine engine_;
  dead_letters::DeadLetters dead_letters_;
  const std::unique_ptr<engine::TimeTravel> time_;  // None: time is real.
  const std::unique_ptr<Tracing> tracing_;          // None: traces are not exported.

  const SystemClock real_clock_;
  front::Gate gate_;
  Refusals refusals_;
  const front::Observers observers_;
  const front::BucketOwner bucket_owner_;
  Offload offload_;
  Monitoring monitoring_;

  std::atomic<bool> stopping_ = false;
  sqs::Service sqs_;
  const std::unique_ptr<Handlers> handlers_;
  const manage::Service management_;
  s3::Service s3_;
  const iam::Endpoint iam_;
  ssm::Sealer sealer_;
  const ssm::Service ssm_;
  const Router router_;
  std::optional<Maintenance> maintenance_;  // Between start() and stop().
};

}  // namespace redrive::app
