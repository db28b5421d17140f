#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/workers.h"
#include "http/kept_request.h"
#include "http/server.h"

namespace redrive::http {

// Where requests are served that take their time, because of disks or of what they run: on threads
// of their own, so that they hold up nobody on the I/O threads. What waits is bounded in number and
// in bytes. From any thread.
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

   private:
    friend class Desk;
    Task(const Request& request, std::shared_ptr<Door> door)
        : request_(request), door_(std::move(door)) {}

    const KeptRequest request_;
    const std::shared_ptr<Door> door_;
    Ticket ticket_;
  };
  using TaskPtr = std::shared_ptr<const Task>;

  struct Limits {
    std::size_t threads = 2;
    std::size_t waiting_max = 1'000;
    std::size_t waiting_bytes_max = 256u << 20;  // Of bodies.
  };
  // `serve` answers a task before it returns, or keeps it and answers later.
  explicit Desk(std::function<void(const TaskPtr&)> serve);
  Desk(std::function<void(const TaskPtr&)> serve, Limits limits);
  ~Desk();

  // Before the first request.
  void attach(Server& server);
  // False: too much waits already, and the exchange is to be answered by the caller.
  bool take(Exchange& exchange);
  // Serves what waits and ends the threads; the server must still be there. Answers that come
  // later go nowhere.
  void stop();

 private:
  void begin(const TaskPtr& task);

  const std::function<void(const TaskPtr&)> serve_;
  const Limits limits_;
  const std::shared_ptr<Door> door_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;  // Guarded by mutex_, like the next two.
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  Workers workers_;
};

}  // namespace redrive::http
