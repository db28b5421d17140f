#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "net/http/budget.h"
#include "net/http/connection.h"
#include "net/http/held_replies.h"
#include "net/http/poller.h"
#include "net/http/receive_buffers.h"
#include "net/http/server.h"
#include "net/http/socket_batch.h"
#include "observe/metrics/counter.h"
#include "observe/metrics/histogram.h"

namespace redrive::http {

// State shared by the loops of one server.
struct Shared {
  explicit Shared(const Limits& the_limits)
      : limits(the_limits),
        unfinished(limits.unfinished_bytes_max),
        unsent(limits.unsent_bytes_max),
        held(limits.unsent_bytes_max) {}

  const Limits limits;
  Server::Hooks hooks;                  // Set before the loops run, like `tls`.
  std::unique_ptr<TlsContext> tls;      // Null: plain HTTP.
  std::atomic<SyncPoint> released = 0;  // Monotonic.
  std::atomic<std::size_t> connections = 0;
  Budget unfinished;  // Buffers of incomplete requests.
  Budget unsent;      // Responses that clients have not read yet.
  Budget held;        // Large responses held for a sync point.
  // Guards no data; only for waiting until `connections` is zero.
  Mutex all_closed_mutex;
  ConditionVariable all_closed;

  void connection_closed();
};

// Traffic counters of one loop. Written by its thread, read by any.
struct LoopTraffic {
  metrics::Counter accepted;
  metrics::Counter bytes_received;
  metrics::Counter bytes_sent;
  metrics::Histogram pass_micros;  // From the return of one wait for events to the next wait.
  std::atomic<std::uint64_t> handler_micros_max{0};  // Longest time spent in one handler.
};

// A client accepted by the listener.
struct Accepted {
  Descriptor socket;
  std::string peer;  // Address without port.
};

// One I/O thread: its event loop and its connections.
//
// Replies wait for syncs, and a sync costs far more than a reply, so the loop makes each sync serve
// many replies (group commit). It requests a sync (Hooks::round_ended) when nothing more is ready,
// and the next one only after the replies released by the last are written and those clients have
// had time to send their next request. Gathered requests are answered at the same point, since they
// wait for the same sync.
//
// All members are for the loop's own thread, except those documented as thread-safe.
class Loop {
 public:
  Loop(Shared& shared, unsigned index);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The thread's body: returns after stop(), when all connections are closed and every posted task
  // has run.
  void run();

  // Thread-safe.
  bool is_own_thread() const;
  void stop();
  void start_draining();
  void close_all();
  void post(std::function<void()> work);
  void adopt(Accepted accepted);
  void resume(const ReplyToken& token, std::function<SyncPoint(std::string*)> write,
              metrics::Histogram* whole);
  // Wakes the loop if it holds replies for sync points up to `reached`.
  void release(SyncPoint reached);

  Poller& poller() { return poller_; }
  void answer(const ReplyToken& token, const std::function<SyncPoint(std::string*)>& write);

  // Used by connections.
  const Limits& limits() const { return shared_.limits; }
  const Server::Hooks& hooks() const { return shared_.hooks; }
  bool draining() const { return draining_; }
  const TlsContext* tls() const { return shared_.tls.get(); }
  Budget& unfinished() { return shared_.unfinished; }
  Budget& unsent() { return shared_.unsent; }
  Budget& held() { return shared_.held; }
  LoopTraffic& traffic() { return traffic_; }
  const LoopTraffic& traffic() const { return traffic_; }
  // An empty buffer for an immediate receive.
  Buffer receive_buffer() { return receive_buffers_.empty(0); }
  // Adds the call to the current batch; Connection::on_moved gets the result.
  void receive_together(Connection& connection, int socket);
  void send_together(Connection& connection, int socket, std::string_view bytes);
  Request& request() { return request_; }
  std::uint64_t ticks() const { return ticks_; }
  std::uint64_t ticks_in(std::chrono::milliseconds time) const;
  bool is_released(SyncPoint point) const {
    return point <= shared_.released.load(std::memory_order_acquire);
  }
  void note_gathered();
  // A handler starts: the previous one has ended by now, or ended with its pass.
  void note_handler(Poller::Clock::time_point begins) {
    const auto pass_ended = poller_.pass_ended();
    const auto taken = (pass_ended > handler_began_ ? pass_ended : begins) - handler_began_;
    if (taken > handler_longest_) note_longest(taken);
    handler_began_ = begins;
  }
  void hold(SyncPoint point, Connection& connection);
  ReplyToken make_token(const Connection& connection);
  std::string take_string();
  void give_back(std::string&& string);
  // A connection has closed.
  void note_closed() { shared_.connection_closed(); }
  // Frees the connection later, once nothing refers to it.
  void retire(Connection& connection);

 private:
  void insert(Accepted accepted);
  void close_connections();
  void schedule_sweep();
  void sweep();
  void write_released();
  void open_round();
  bool is_round_full();
  void end_round(bool idle);
  Connection* awaiting(const ReplyToken& token) const;
  void join_batch(Connection& connection);
  void run_batch();
  void answer_gathered();
  void note_longest(Poller::Clock::duration taken);
  bool is_over() const { return stopping_ && gathered_ == 0 && !poller_.has_tasks(); }

  Shared& shared_;
  const unsigned index_;
  Poller poller_;
  Poller::Timer sweep_timer_;
  const std::chrono::milliseconds tick_;
  std::uint64_t ticks_ = 1;
  bool stopping_ = false;
  bool draining_ = false;
  unsigned gathered_ = 0;  // Requests waiting to be answered together.
  // Replies are held, or about to be, for which no sync has been requested.
  bool round_open_ = false;
  Poller::Clock::time_point round_began_;
  unsigned rounds_ = 0;         // Poller passes since round_began_,
  unsigned round_replies_ = 0;  // and replies held since then.
  SyncPoint asked_ = 0;         // Sync point requested but not reached yet; 0: none.
  SyncPoint last_held_ = 0;
  std::uint64_t generation_last_ = 0;
  // Start of the last handler. Its duration needs no extra clock reading: it ends when the next
  // handler begins or the pass ends.
  Poller::Clock::time_point handler_began_ = Poller::Clock::time_point::max();
  Poller::Clock::duration handler_longest_{};
  ReceiveBuffers receive_buffers_{SocketBatch::kCallsMax};
  // Created by the loop's own thread (IORING_SETUP_SINGLE_ISSUER).
  std::optional<SocketBatch> batch_;
  std::vector<Connection*> in_batch_;  // in_batch_[i] made call i of batch_.
  Request request_;                    // The request being handled.
  HeldReplies held_;
  LoopTraffic traffic_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::string> strings_;  // Empty strings with capacity, reused for responses.
};

}  // namespace redrive::http
