#pragma once

#include <optional>

#include "app/handlers.h"
#include "base/mutex.h"
#include "core/journal/journal.h"
#include "net/http/server.h"
#include "observe/metrics/server_metrics.h"

namespace redrive::app {

// The journal's sync thread, and what follows each sync: replies are released, the dispatcher
// continues, the duration is measured. A sync that fails ends the process, because nothing more can
// be acknowledged. From any thread.
class Syncing {
 public:
  Syncing(journal::Journal& journal, metrics::ServerMetrics& recorded);
  Syncing(const Syncing&) = delete;
  Syncing& operator=(const Syncing&) = delete;

  // Before attach() and after detach() syncs release nothing.
  void attach(http::Server& server, Handlers& handlers);
  void detach();
  // Syncs what is left and ends the thread.
  void stop() { thread_.reset(); }

  void request();
  // For http::Server::Hooks::round_ended.
  void end_round(bool idle);

 private:
  void note_synced(journal::Sequence synced);

  metrics::ServerMetrics& recorded_;
  Mutex mutex_;
  http::Server* server_ GUARDED_BY(mutex_) = nullptr;  // Both are set, or none.
  Handlers* handlers_ GUARDED_BY(mutex_) = nullptr;
  std::optional<journal::SyncThread> thread_;  // Last: it uses the rest. None after stop().
};

// The journal cannot be written: ends the process with a message.
[[noreturn]] void exit_unsynced(const Error& error);

}  // namespace redrive::app
