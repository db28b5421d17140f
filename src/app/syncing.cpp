#include "app/syncing.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cassert>

namespace redrive::app {

void exit_unsynced(const Error& error) {
  spdlog::critical("cannot write to the journal, shutting down: {}", error.message);
  spdlog::shutdown();
  _exit(1);
}

Syncing::Syncing(journal::Journal& journal, metrics::ServerMetrics& recorded)
    : recorded_(recorded) {
  thread_.emplace(journal,
                  journal::SyncThread::Hooks{
                      .on_synced = [this](journal::Sequence synced) { note_synced(synced); },
                      .on_failure = exit_unsynced,
                      .on_measured =
                          [this](std::uint64_t records, std::chrono::nanoseconds taken) {
                            const auto nanoseconds = static_cast<std::uint64_t>(taken.count());
                            recorded_.sync_micros.record(nanoseconds / 1000);
                            recorded_.sync_records.record(records);
                          }});
}

void Syncing::attach(http::Server& server, Handlers& handlers) {
  const MutexLock lock(mutex_);
  assert(server_ == nullptr && handlers_ == nullptr);
  server_ = &server;
  handlers_ = &handlers;
}

void Syncing::detach() {
  const MutexLock lock(mutex_);
  server_ = nullptr;
  handlers_ = nullptr;
}

void Syncing::request() {
  assert(thread_);
  thread_->request();
}

void Syncing::end_round(bool idle) {
  assert(thread_);
  idle ? thread_->sync_here() : thread_->request();
}

// The lock keeps the server alive until it has released the replies: detach() waits.
void Syncing::note_synced(journal::Sequence synced) {
  const MutexLock lock(mutex_);
  if (server_ == nullptr) return;
  server_->release(synced);
  handlers_->note_synced(synced);
}

}  // namespace redrive::app
