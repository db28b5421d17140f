#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server.h"
#include "lambda/call.h"

namespace redrive::lambda {

struct Route;

// Whether a request is for Lambda: one port serves several APIs.
bool is_lambda_request(const http::Request& request);

// The Lambda API on a port. Code is large and disks are slow, so nothing of it runs on the I/O
// threads that serve queues: a request is copied and handed to threads of this service. An answer
// leaves when everything recorded before it is durable.
//
// mutex_ guards waiting_, waiting_bytes_ and stopping_.
class Service {
 public:
  explicit Service(Parts parts);
  ~Service();

  // Before the first request.
  void attach(http::Server& server);
  // For requests that is_lambda_request() knows as such.
  void handle(http::Exchange& exchange);
  // Answers what waits and ends the threads; the server must still be there. What handlers answer
  // later goes nowhere.
  void stop();

 private:
  struct Job;
  class Door;

  void work();
  void run(std::shared_ptr<Job> job);
  Outcome<Answer> serve(const Route& route, Call& call) const;
  std::function<void(Answer)> responder(const std::shared_ptr<Job>& job) const;

  const Parts parts_;
  std::shared_ptr<Door> door_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace redrive::lambda
