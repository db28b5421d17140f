#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/gate.h"
#include "http/server.h"
#include "objects/store.h"
#include "objects/uploads.h"
#include "s3/answer.h"

namespace redrive::s3 {

struct Call;

// The S3 subset on a port. Objects are large and disks are slow, so nothing of it runs on the I/O
// threads that serve queues: a request is copied and handed to threads of this service.
//
// mutex_ guards waiting_, waiting_bytes_ and stopping_.
class Service {
 public:
  struct Parts {
    objects::Store& store;
    objects::Uploads& uploads;
    const api::Gate& gate;
    std::vector<std::string> domains;        // Of virtual-host addresses, beside localhost.
    std::function<void(std::string)> audit;  // Takes a line for each change; may be empty.
  };

  explicit Service(Parts parts);
  ~Service();

  // Before the first request.
  void attach(http::Server& server) { server_ = &server; }
  // For requests that is_s3_request() knows as such.
  void handle(http::Exchange& exchange);
  // Answers what waits and ends the threads; the server must still be there.
  void stop();

 private:
  struct Job;

  void work();
  Answer run(Job& job) const;
  Outcome<Answer> serve(const Job& job, std::string& bucket, std::string& key) const;
  void write_down(const Call& call, std::string_view request_id,
                  const Outcome<Answer>& answer) const;

  const Parts parts_;
  http::Server* server_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace redrive::s3
