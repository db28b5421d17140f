#include "net/http/offload_pool.h"

#include <cassert>
#include <iterator>
#include <utility>

namespace redrive::http {

class OffloadPool::ServerLink {
 public:
  void connect(Server* server) {
    const MutexLock lock(mutex_);
    server_ = server;
  }
  void resume(ReplyToken token, std::function<SyncPoint(std::string*)> write,
              metrics::Histogram* measured) {
    const MutexLock lock(mutex_);
    if (server_ != nullptr) server_->resume(token, std::move(write), measured);
  }

 private:
  Mutex mutex_;
  Server* server_ GUARDED_BY(mutex_) = nullptr;
};

void OffloadPool::Task::answer(std::function<SyncPoint(std::string& out)> write,
                               metrics::Histogram* measured) const {
  server_link_->resume(
      token_,
      [write = std::move(write)](std::string* out) { return out == nullptr ? 0 : write(*out); },
      measured);
}

OffloadPool::OffloadPool(Serve serve) : OffloadPool(std::move(serve), Limits()) {}

OffloadPool::OffloadPool(Serve serve, Limits limits)
    : serve_(std::move(serve)),
      limits_(limits),
      server_link_(std::make_shared<ServerLink>()),
      workers_(limits.threads) {}

OffloadPool::~OffloadPool() {
  stop();
}

void OffloadPool::attach(Server& server) {
  server_link_->connect(&server);
}

void OffloadPool::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  workers_.stop(Workers::Rest::finish);
  server_link_->connect(nullptr);
}

bool OffloadPool::has_capacity(std::size_t bytes, const std::string& client) const {
  if (waiting_.size() >= limits_.waiting_max) return false;
  if (waiting_bytes_ + bytes > limits_.waiting_bytes_max) return false;
  const auto of_client = waiting_of_.find(client);
  return of_client == waiting_of_.end() || of_client->second < limits_.waiting_per_client_max;
}

bool OffloadPool::take(Exchange& exchange, Work work) {
  const std::size_t bytes = exchange.request().body.size();
  const MutexLock lock(mutex_);
  if (stopping_) return false;
  if (!has_capacity(bytes, work.client)) drop_abandoned();
  if (!has_capacity(bytes, work.client)) return false;
  const std::shared_ptr<Task> task(new Task(exchange.request(), server_link_));
  task->token_ = exchange.defer_work([abandoned = task->abandoned_] { *abandoned = true; });
  waiting_bytes_ += bytes;
  ++waiting_of_[work.client];
  waiting_.push_back({task, std::move(work)});
  workers_.run([this] { serve_waiting(); });
  return true;
}

// Serves waiting requests until none may start. A request held back by a limit is picked up when
// the request that it waits for finishes.
void OffloadPool::serve_waiting() {
  while (const auto item = next()) {
    item->work.serve(item->task);
    finish(*item);
  }
}

std::optional<OffloadPool::Item> OffloadPool::next() {
  const MutexLock lock(mutex_);
  drop_abandoned();
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (!may_begin(*at)) continue;
    Item item;
    remove(at, &item);
    if (item.work.pace == Pace::slow) {
      ++slow_;
      ++slow_of_[item.work.client];
    }
    return item;
  }
  return std::nullopt;
}

bool OffloadPool::may_begin(const Item& item) const {
  if (item.work.pace == Pace::quick) return true;
  if (slow_ >= limits_.slow_max) return false;
  const auto of_client = slow_of_.find(item.work.client);
  return of_client == slow_of_.end() || of_client->second < limits_.slow_per_client_max;
}

std::list<OffloadPool::Item>::iterator OffloadPool::remove(std::list<Item>::iterator at,
                                                           Item* into) {
  waiting_bytes_ -= at->task->request().body.size();
  const auto of_client = waiting_of_.find(at->work.client);
  if (--of_client->second == 0) waiting_of_.erase(of_client);
  if (into != nullptr) *into = std::move(*at);
  return waiting_.erase(at);
}

void OffloadPool::drop_abandoned() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const std::string_view method = at->task->request().method;
    const bool safe = method == "GET" || method == "HEAD";
    at = safe && at->task->is_abandoned() ? remove(at, nullptr) : std::next(at);
  }
}

void OffloadPool::finish(const Item& item) {
  if (item.work.pace == Pace::quick) return;
  const MutexLock lock(mutex_);
  --slow_;
  const auto of_client = slow_of_.find(item.work.client);
  if (--of_client->second == 0) slow_of_.erase(of_client);
}

void TaskExchange::reply(SyncPoint after) {
  const auto text = std::make_shared<std::string>(std::move(out_));
  task_->answer(
      [text, after](std::string& out) {
        out = std::move(*text);
        return after;
      },
      measured_);
}

ReplyToken TaskExchange::gather() {
  assert(false && "a task is answered at once");
  return {};
}

ReplyToken TaskExchange::defer(std::function<void()>) {
  assert(false && "a task is answered at once");
  return {};
}

}  // namespace redrive::http
