#include "http/desk.h"

#include <utility>

namespace redrive::http {

class Desk::Door {
 public:
  void open(Server* server) {
    const std::lock_guard lock(mutex_);
    server_ = server;
  }
  void resume(Ticket ticket, std::function<Mark(std::string*)> write,
              metrics::Histogram* measured) {
    const std::lock_guard lock(mutex_);
    if (server_ != nullptr) server_->resume(ticket, std::move(write), measured);
  }

 private:
  std::mutex mutex_;
  Server* server_ = nullptr;  // Guarded by mutex_.
};

void Desk::Task::answer(std::function<Mark(std::string& out)> write,
                        metrics::Histogram* measured) const {
  door_->resume(
      ticket_,
      [write = std::move(write)](std::string* out) { return out == nullptr ? 0 : write(*out); },
      measured);
}

Desk::Desk(std::function<void(const TaskPtr&)> serve) : Desk(std::move(serve), Limits()) {}

Desk::Desk(std::function<void(const TaskPtr&)> serve, Limits limits)
    : serve_(std::move(serve)),
      limits_(limits),
      door_(std::make_shared<Door>()),
      workers_(limits.threads) {}

Desk::~Desk() {
  stop();
}

void Desk::attach(Server& server) {
  door_->open(&server);
}

void Desk::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  workers_.stop(Workers::Rest::finish);
  door_->open(nullptr);
}

bool Desk::take(Exchange& exchange) {
  const Request& request = exchange.request();
  const std::lock_guard lock(mutex_);
  const bool room = !stopping_ && waiting_ < limits_.waiting_max &&
                    waiting_bytes_ + request.body.size() <= limits_.waiting_bytes_max;
  if (!room) return false;
  const std::shared_ptr<Task> task(new Task(request, door_));
  task->ticket_ = exchange.defer([] {});
  ++waiting_;
  waiting_bytes_ += task->request().body.size();
  workers_.run([this, task] { begin(task); });
  return true;
}

void Desk::begin(const TaskPtr& task) {
  {
    const std::lock_guard lock(mutex_);
    --waiting_;
    waiting_bytes_ -= task->request().body.size();
  }
  serve_(task);
}

}  // namespace redrive::http
