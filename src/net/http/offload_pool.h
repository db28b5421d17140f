#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/workers.h"
#include "net/http/kept_request.h"
#include "net/http/server.h"

namespace redrive::http {

// Serves requests that may take longer than a millisecond (disk, searches, listings, functions) on
// its own threads, so that they do not delay other requests on the I/O threads.
//
// Waiting requests are bounded in number and bytes, in total and per client; take() refuses the
// rest. Slow requests may be limited to some of the threads, and one client to some of those, so
// that quick requests and other clients always find a thread. Thread-safe.
class OffloadPool {
 public:
  // A reference to the server that is cleared when the pool stops.
  class ServerLink;

  // One request, and how to answer it.
  class Task {
   public:
    const Request& request() const { return request_.get(); }
    // Call once, from any thread. `write` appends the response on the connection's thread and
    // returns the sync point to hold it for; it does not run if the client or the server is gone.
    // `measured` records the time since the request arrived.
    void answer(std::function<SyncPoint(std::string& out)> write,
                metrics::Histogram* measured) const;
    // The connection was reset, so nothing will read the response. Long-running work should stop.
    bool is_abandoned() const { return abandoned_->load(std::memory_order_relaxed); }

   private:
    friend class OffloadPool;
    Task(const Request& request, std::shared_ptr<ServerLink> server_link)
        : request_(request), server_link_(std::move(server_link)) {}

    const KeptRequest request_;
    const std::shared_ptr<ServerLink> server_link_;
    const std::shared_ptr<std::atomic<bool>> abandoned_ =
        std::make_shared<std::atomic<bool>>(false);
    ReplyToken token_;
  };
  using TaskPtr = std::shared_ptr<const Task>;
  // Answers a task before returning, or keeps it and answers later.
  using Serve = std::function<void(const TaskPtr&)>;

  struct Limits {
    std::size_t threads = 2;
    std::size_t waiting_max = 1'000;
    std::size_t waiting_bytes_max = 256u << 20;  // Of bodies.
    std::size_t waiting_per_client_max = SIZE_MAX;
    // Slow requests served at the same time.
    std::size_t slow_max = SIZE_MAX;
    std::size_t slow_per_client_max = SIZE_MAX;
  };
  enum class Pace : std::uint8_t { quick, slow };
  struct Work {
    Serve serve;
    Pace pace = Pace::quick;
    std::string client = {};  // The client whose limits the request counts against.
  };

  // `serve` is the default for take() without a Work.
  explicit OffloadPool(Serve serve);
  OffloadPool(Serve serve, Limits limits);
  explicit OffloadPool(Limits limits) : OffloadPool(Serve(), limits) {}
  ~OffloadPool();

  // Call before the first request.
  void attach(Server& server);
  // Returns false if too much is waiting; the caller must then answer the exchange. A GET or HEAD
  // whose client disconnects before it is served is dropped; other methods are served regardless.
  bool take(Exchange& exchange) { return take(exchange, {.serve = serve_}); }
  bool take(Exchange& exchange, Work work);
  // Serves what is waiting, then ends the threads; the server must still exist. Later answers are
  // discarded.
  void stop();

 private:
  struct Item {
    std::shared_ptr<Task> task;
    Work work;
  };

  bool has_capacity(std::size_t bytes, const std::string& client) const REQUIRES(mutex_);
  bool may_begin(const Item& item) const REQUIRES(mutex_);
  std::list<Item>::iterator remove(std::list<Item>::iterator at, Item* into) REQUIRES(mutex_);
  void drop_abandoned() REQUIRES(mutex_);
  std::optional<Item> next();
  void finish(const Item& item);
  void serve_waiting();

  const Serve serve_;
  const Limits limits_;
  const std::shared_ptr<ServerLink> server_link_;
  Mutex mutex_;
  std::list<Item> waiting_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::size_t> waiting_of_ GUARDED_BY(mutex_);  // By client.
  std::size_t slow_ GUARDED_BY(mutex_) = 0;                           // Being served.
  std::map<std::string, std::size_t> slow_of_ GUARDED_BY(mutex_);     // By client.
  bool stopping_ GUARDED_BY(mutex_) = false;
  Workers workers_;
};

// Runs a handler written for an I/O thread on a task. The handler must reply before it returns: it
// can neither gather nor defer.
class TaskExchange final : public Exchange {
 public:
  explicit TaskExchange(OffloadPool::TaskPtr task) : task_(std::move(task)) {}

  const Request& request() const override { return task_->request(); }
  std::string& out() override { return out_; }
  void reply(SyncPoint after) override;
  void measure(metrics::Histogram& into) override { measured_ = &into; }
  ReplyToken gather() override;
  ReplyToken defer(std::function<void()> abandoned) override;
  bool on_io_thread() const override { return false; }
  bool is_abandoned() const override { return task_->is_abandoned(); }

 private:
  const OffloadPool::TaskPtr task_;
  std::string out_;
  metrics::Histogram* measured_ = nullptr;
};

}  // namespace redrive::http
