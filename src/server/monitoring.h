#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "alarms/courier.h"
#include "alarms/watcher.h"
#include "api/authorize.h"
#include "api/gate.h"
#include "base/workers.h"
#include "cloudwatch/service.h"
#include "engine/engine.h"
#include "engine/time_travel.h"
#include "http/server.h"
#include "journal/journal.h"
#include "metrics/history.h"
#include "metrics/history_files.h"
#include "metrics/server_metrics.h"
#include "monitor/collector.h"
#include "server/config.h"
#include "server/handlers.h"

namespace redrive::server {

// Everything that watches the server: the history, who looks at it each second, the page for
// Prometheus, and CloudWatch.
class Monitoring {
 public:
  struct Parts {
    const Config& config;
    engine::Engine& engine;
    journal::Journal& journal;
    const api::Gate& gate;
    const api::Observers& observers;
    metrics::ServerMetrics& recorded;    // Where others record.
    engine::TimeTravel* time = nullptr;  // Where time stands still.
    std::function<void()> sync_wanted;
    std::function<monitor::SpanTotals()> spans = {};  // Where traces are exported.
    http::OutgoingPolicyPtr webhooks = std::make_shared<http::OutgoingPolicy>();
    api::BucketOwner bucket_owner = {};
    std::function<void()> each_second = {};  // More to do at every look.
  };
  // Reads back what is known of the past.
  static Result<std::unique_ptr<Monitoring>> open(Parts parts);

  metrics::History& history() { return history_; }
  void record_sync(std::uint64_t records, std::chrono::nanoseconds taken);

  // The server that is watched; looking begins. To be stopped before it ends.
  void attach(http::Server& server, Handlers& handlers);
  void stop();
  // Looks now, if a second has passed. Where time stands still this is how the present is seen.
  void observe();
  alarms::Watcher& watcher() { return *watcher_; }
  // Of the file system that holds the data directory, at the last look.
  monitor::DiskState disk() const { return disk_.load(std::memory_order_relaxed); }

  // The page for Prometheus, and CloudWatch. Both take as long as there are queues, so neither is
  // for I/O threads.
  void handle_page(http::Exchange& exchange) const;
  cloudwatch::Service& cloudwatch() { return *cloudwatch_; }

 private:
  explicit Monitoring(Parts parts);
  void open_alarms();
  void look();
  void look_at_disk();
  void tell_disk(const monitor::DiskReading& reading, monitor::DiskState before,
                 monitor::DiskState state);
  void keep_looking(Workers::Clock::time_point due);
  // An authorised reader of the page, and how much of it it may see.
  struct Reader {
    api::Caller caller;
    bool sees_all = false;
  };
  std::optional<Reader> reader_of(const http::Request& request) const;
  bool may_see(const Reader& reader, const metrics::Subject& subject) const;
  monitor::Sources sources() const;
  monitor::NoticeTotals notice_totals() const;

  Parts parts_;
  std::mutex looking_;    // Held while somebody looks. Taken before the next,
  std::mutex observing_;  // which is held while numbers are gathered, and before the engine's turn.
  metrics::History history_;
  std::optional<metrics::HistoryFiles> files_;
  std::atomic<monitor::DiskState> disk_ = monitor::DiskState::ok;
  std::optional<monitor::Collector> collector_;
  std::unique_ptr<alarms::Courier> courier_;
  std::optional<alarms::Watcher> watcher_;
  std::optional<cloudwatch::Service> cloudwatch_;
  http::Server* server_ = nullptr;
  Handlers* handlers_ = nullptr;
  Workers background_{1};  // For looking.
};

}  // namespace redrive::server
