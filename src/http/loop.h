#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/budget.h"
#include "http/connection.h"
#include "http/held_replies.h"
#include "http/poller.h"
#include "http/rooms.h"
#include "http/server.h"
#include "http/socket_batch.h"
#include "metrics/counter.h"
#include "metrics/histogram.h"

namespace redrive::http {

// What the loops of one server have in common.
struct Shared {
  Shared(const Limits& the_limits, Server::Hooks the_hooks)
      : limits(the_limits),
        hooks(std::move(the_hooks)),
        unfinished(limits.unfinished_bytes_max),
        unsent(limits.unsent_bytes_max),
        held(limits.unsent_bytes_max) {}

  const Limits limits;
  const Server::Hooks hooks;
  std::unique_ptr<TlsContext> tls;  // None: plain HTTP. Set before the loops run.
  std::atomic<Mark> released = 0;   // Only grows.
  std::atomic<std::size_t> connections = 0;
  Budget unfinished;  // Buffers of requests that have not come whole.
  Budget unsent;      // Answers that the other side does not take.
  Budget held;        // Large answers that wait for their mark.
  // Guards nothing but the sleep of those who wait for `connections` to become zero.
  std::mutex all_closed_mutex;
  std::condition_variable all_closed;

  void connection_closed();
};

// What one loop has moved. Counted by its thread, read by any.
struct LoopTraffic {
  metrics::Counter accepted;
  metrics::Counter bytes_received;
  metrics::Counter bytes_sent;
  metrics::Histogram pass_micros;                    // From one wait for events to the next.
  std::atomic<std::uint64_t> handler_micros_max{0};  // The longest that one request took.
};

// A client that the listener let in.
struct Accepted {
  Descriptor socket;
  std::string peer;  // Address without port.
};

// One I/O thread: its event loop and its connections.
//
// Replies wait for syncs, and a sync costs far more than a reply, so the loop sees to it that each
// serves many. It asks for one (Hooks::round_ended) when nothing more is ready, and for the next
// one only when what the last has released is written and those who were answered have had the time
// to come back. What was gathered is answered then, too, as it waits for the same sync.
//
// All members are for its own thread, except those said to be callable from any.
class Loop {
 public:
  Loop(Shared& shared, unsigned index);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The thread's body: returns after stop(), when everything is closed and every posted function
  // has run.
  void run();

  // From any thread.
  bool is_own_thread() const;
  void stop();
  void start_draining();
  void close_all();
  void post(std::function<void()> work);
  void adopt(Accepted accepted);
  void resume(const Ticket& ticket, std::function<Mark(std::string*)> write,
              metrics::Histogram* whole);
  // Wakes the loop if it holds replies for marks up to this one.
  void release(Mark reached);

  Poller& poller() { return poller_; }
  void answer(const Ticket& ticket, const std::function<Mark(std::string*)>& write);

  // For connections.
  const Limits& limits() const { return shared_.limits; }
  const Server::Hooks& hooks() const { return shared_.hooks; }
  bool draining() const { return draining_; }
  const TlsContext* tls() const { return shared_.tls.get(); }
  Budget& unfinished() { return shared_.unfinished; }
  Budget& unsent() { return shared_.unsent; }
  Budget& held() { return shared_.held; }
  LoopTraffic& traffic() { return traffic_; }
  const LoopTraffic& traffic() const { return traffic_; }
  // To receive into at once.
  Buffer room() { return rooms_.empty(0); }
  // With what others have to move at this moment; Connection::on_moved brings the result.
  void receive_together(Connection& connection, int socket);
  void send_together(Connection& connection, int socket, std::string_view bytes);
  Request& request() { return request_; }
  std::uint64_t ticks() const { return ticks_; }
  std::uint64_t ticks_in(std::chrono::milliseconds time) const;
  bool is_released(Mark mark) const {
    return mark <= shared_.released.load(std::memory_order_acquire);
  }
  void note_gathered();
  // A handler begins: the one before has ended by then, or with its pass.
  void note_handler(Poller::Clock::time_point begins) {
    const auto pass_ended = poller_.pass_ended();
    const auto taken = (pass_ended > handler_began_ ? pass_ended : begins) - handler_began_;
    if (taken > handler_longest_) note_longest(taken);
    handler_began_ = begins;
  }
  void hold(Mark mark, Connection& connection);
  Ticket make_ticket(const Connection& connection);
  std::string take_string();
  void give_back(std::string&& string);
  // A connection has closed.
  void note_closed() { shared_.connection_closed(); }
  // Frees the connection soon, if nothing refers to it any more.
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
  Connection* awaiting(const Ticket& ticket) const;
  void join_batch(Connection& connection);
  void run_batch();
  void answer_gathered();
  void note_longest(Poller::Clock::duration taken);
  bool is_over() const { return stopping_ && gathered_ == 0 && !poller_.has_errands(); }

  Shared& shared_;
  const unsigned index_;
  Poller poller_;
  Poller::Timer sweep_timer_;
  const std::chrono::milliseconds tick_;
  std::uint64_t ticks_ = 1;
  bool stopping_ = false;
  bool draining_ = false;
  unsigned gathered_ = 0;    // Requests that wait to be answered together.
  bool round_open_ = false;  // Replies are held that no sync was asked for, or will be.
  Poller::Clock::time_point round_began_;
  unsigned rounds_ = 0;         // Of the poller, since then,
  unsigned round_replies_ = 0;  // and replies held.
  Mark asked_ = 0;              // Up to where a sync was asked for that has not come; 0: none was.
  Mark last_held_ = 0;
  std::uint64_t generation_last_ = 0;
  // Of the last handler. Its time is known without another reading of the clock: by when the next
  // one begins, or the pass ends.
  Poller::Clock::time_point handler_began_ = Poller::Clock::time_point::max();
  Poller::Clock::duration handler_longest_{};
  Rooms rooms_{SocketBatch::kCallsMax};
  std::optional<SocketBatch> batch_;   // Made by the thread itself, as rings ask for.
  std::vector<Connection*> in_batch_;  // Whose calls they are.
  Request request_;                    // The one being handled.
  HeldReplies held_;
  LoopTraffic traffic_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::string> strings_;  // Empty, with capacity, to write responses into.
};

}  // namespace redrive::http
