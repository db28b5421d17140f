#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/workers.h"
#include "http/kept_request.h"
#include "http/server.h"

namespace redrive::http {

// Serves requests whose time is not bounded below a millisecond (disks, searches, listings,
// functions) on its own threads, so that they do not delay other requests on the I/O threads.
//
// What waits is bounded in number and bytes, in sum and per client; take() refuses the rest. Slow
// requests may be limited to a part of the threads, and one client to a part of those, so that
// quick requests and other clients always find a thread. Thread-safe.
class Desk {
 public:
  // The way to the server, for as long as there is one.
  class Door;

  // One request and the way to its connection.
  class Task {
   public:
    const Request& request() const { return request_.get(); }
    // To be called once, from any thread. `write` appends the response on the connection's thread
    // and returns the mark to hold it for; when the client is gone, or the server, it does not
    // run. `measured` gets the time since the request had come.
    void answer(std::function<Mark(std::string& out)> write, metrics::Histogram* measured) const;
    // The connection was reset: no answer will be read. Long work should end when it sees this.
    bool is_abandoned() const { return abandoned_->load(std::memory_order_relaxed); }

   private:
    friend class Desk;
    Task(const Request& request, std::shared_ptr<Door> door)
        : request_(request), door_(std::move(door)) {}

    const KeptRequest request_;
    const std::shared_ptr<Door> door_;
    const std::shared_ptr<std::atomic<bool>> abandoned_ =
        std::make_shared<std::atomic<bool>>(false);
    Ticket ticket_;
  };
  using TaskPtr = std::shared_ptr<const Task>;
  // Answers a task before it returns, or keeps it and answers later.
  using Serve = std::function<void(const TaskPtr&)>;

  struct Limits {
    std::size_t threads = 2;
    std::size_t waiting_max = 1'000;
    std::size_t waiting_bytes_max = 256u << 20;  // Of bodies.
    std::size_t waiting_per_client_max = SIZE_MAX;
    // Slow requests that are served at the same time.
    std::size_t slow_max = SIZE_MAX;
    std::size_t slow_per_client_max = SIZE_MAX;
  };
  enum class Pace : std::uint8_t { quick, slow };
  struct Work {
    Serve serve;
    Pace pace = Pace::quick;
    std::string client = {};  // Whose share of the limits it uses.
  };

  // `serve` is for take() without work of its own.
  explicit Desk(Serve serve);
  Desk(Serve serve, Limits limits);
  explicit Desk(Limits limits) : Desk(Serve(), limits) {}
  ~Desk();

  // Before the first request.
  void attach(Server& server);
  // False: too much waits already, and the exchange is to be answered by the caller. A GET or HEAD
  // whose client leaves before it is served is dropped; other methods are served all the same.
  bool take(Exchange& exchange) { return take(exchange, {.serve = serve_}); }
  bool take(Exchange& exchange, Work work);
  // Serves what waits and ends the threads; the server must still be there. Answers that come
  // later go nowhere.
  void stop();

 private:
  struct Item {
    std::shared_ptr<Task> task;
    Work work;
  };

  bool has_room(std::size_t bytes, const std::string& client) const;
  bool may_begin(const Item& item) const;
  std::list<Item>::iterator remove(std::list<Item>::iterator at, Item* into);
  void drop_abandoned();
  std::optional<Item> next();
  void finish(const Item& item);
  void serve_waiting();

  const Serve serve_;
  const Limits limits_;
  const std::shared_ptr<Door> door_;
  std::mutex mutex_;
  std::list<Item> waiting_;  // Guarded by mutex_, like the next five.
  std::size_t waiting_bytes_ = 0;
  std::map<std::string, std::size_t> waiting_of_;  // By client.
  std::size_t slow_ = 0;                           // Being served.
  std::map<std::string, std::size_t> slow_of_;     // By client.
  bool stopping_ = false;
  Workers workers_;
};

// Lets a handler that was written for an I/O thread answer a task. The handler must reply before it
// returns: it can neither gather nor defer.
class TaskExchange final : public Exchange {
 public:
  explicit TaskExchange(Desk::TaskPtr task) : task_(std::move(task)) {}

  const Request& request() const override { return task_->request(); }
  std::string& out() override { return out_; }
  void reply(Mark after) override;
  void measure(metrics::Histogram& into) override { measured_ = &into; }
  Ticket gather() override;
  Ticket defer(std::function<void()> abandoned) override;
  bool on_io_thread() const override { return false; }
  bool is_abandoned() const override { return task_->is_abandoned(); }

 private:
  const Desk::TaskPtr task_;
  std::string out_;
  metrics::Histogram* measured_ = nullptr;
};

}  // namespace redrive::http
