#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/handlers.h"
#include "aws/cloudwatch/service.h"
#include "base/mutex.h"
#include "base/workers.h"
#include "core/engine/engine.h"
#include "core/engine/time_travel.h"
#include "core/journal/journal.h"
#include "dead_letters/dead_letters.h"
#include "front/authorize.h"
#include "front/gate.h"
#include "net/http/server.h"
#include "observe/alarms/notifier.h"
#include "observe/alarms/watcher.h"
#include "observe/metrics/history.h"
#include "observe/metrics/history_files.h"
#include "observe/metrics/server_metrics.h"
#include "observe/monitor/collector.h"

namespace redrive::app {

// Everything that monitors the server: the metrics history, the collector that runs each second,
// the page for Prometheus, and CloudWatch.
class Monitoring {
 public:
  struct Parts {
    const Config& config;
    engine::Engine& engine;
    dead_letters::DeadLetters& dead_letters;
    journal::Journal& journal;
    const front::Gate& gate;
    const front::Observers& observers;
    metrics::ServerMetrics& recorded;    // Written by other parts.
    engine::TimeTravel* time = nullptr;  // With a virtual clock.
    std::function<void()> sync_wanted;
    std::function<monitor::SpanTotals()> spans = {};  // Where traces are exported.
    http::OutgoingPolicyPtr webhooks = std::make_shared<http::OutgoingPolicy>();
    front::BucketOwner bucket_owner = {};
    front::Offload offload = {};             // For CloudWatch.
    std::function<void()> each_second = {};  // Called at every observation.
  };
  // Loads the history from its files, if there are any.
  Monitoring(Parts parts, std::optional<metrics::HistoryFiles> files);

  metrics::History& history() { return history_; }

  // Starts observing. Call stop() before the server is destroyed.
  void attach(http::Server& server, Handlers& handlers);
  void stop();
  // Observes now, if a second has passed. With a virtual clock this is the only way.
  void observe();
  alarms::Watcher& watcher() { return *watcher_; }
  // Of the file system that holds the data directory, at the last observation.
  monitor::DiskState disk() const { return disk_.load(std::memory_order_relaxed); }

  // The page for Prometheus. Its time grows with the number of queues: not for I/O threads.
  void handle_page(http::Exchange& exchange) const;
  const cloudwatch::Service& cloudwatch() const { return *cloudwatch_; }

 private:
  void load_history();
  void open_alarms();
  void look();
  void look_at_disk();
  void tell_disk(const monitor::DiskReading& reading, monitor::DiskState before,
                 monitor::DiskState state);
  void keep_looking(Workers::Clock::time_point due);
  // An authorised reader of the page, and how much of it it may see.
  struct Reader {
    front::Caller caller;
    bool sees_all = false;
  };
  std::optional<Reader> reader_of(const http::Request& request) const;
  bool may_see(const Reader& reader, const metrics::Subject& subject) const;
  monitor::Sources sources() const;
  monitor::NoticeTotals notice_totals() const;

  Parts parts_;
  Mutex looking_;    // Held during an observation. Acquired before the next,
  Mutex observing_;  // which is held while numbers are gathered, and before the engine's turn.
  metrics::History history_;
  std::optional<metrics::HistoryFiles> files_;
  std::atomic<monitor::DiskState> disk_ = monitor::DiskState::ok;
  std::optional<monitor::Collector> collector_;
  std::unique_ptr<alarms::Notifier> notifier_;
  std::optional<alarms::Watcher> watcher_;
  std::optional<cloudwatch::Service> cloudwatch_;
  http::Server* server_ = nullptr;
  Handlers* handlers_ = nullptr;
  Workers background_{1};  // Observes every second.
};

}  // namespace redrive::app
