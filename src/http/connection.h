#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "http/budget.h"
#include "http/buffer.h"
#include "http/parser.h"
#include "http/poller.h"
#include "http/server.h"
#include "http/tls.h"

namespace redrive::http {

class Loop;

// One client. Lives on its loop's thread and is never touched from another.
//
//   (handshaking ─▶) reading ─▶ handling ─▶ held ─▶ writing ─▶ reading, lingering or closed
//                                   └─▶ deferred ─▶ handling
//
// Without TLS the first part of a request is received, and an answer that was held is sent, with
// those of other connections: the state is then `receiving` or `writing` until the batch has run.
//
// A reply whose mark is reached skips `held`. After a refusal the connection lingers.
//
// Always true:
//  - `readable_` is false only when the socket will announce what comes next. The object outlives
//    such announcements, and its place in the loop's queue of held replies, by way of Loop::retire.
//  - It is not closed while a call is to be made for it: its socket's number may be another's then.
//  - Between requests it owns no buffer and no response string: both are borrowed from the loop.
//  - Bytes in its own buffer are within the server's budget for unfinished requests, and an answer
//    that the client does not take is within that for unsent ones.
//  - A deferred request ends exactly once: by resume, or by `abandoned` when the connection closes.
class Connection final : public Exchange, private Poller::Watcher {
 public:
  struct Origin {
    std::uint32_t slot;  // In the loop's table of connections.
    std::string peer;    // Address without port.
  };
  Connection(Loop& loop, Descriptor socket, Origin origin);

  const Request& request() const override;
  std::string& out() override { return out_; }
  void reply(Mark after) override;
  void measure(metrics::Histogram& into) override { measured_ = &into; }
  Ticket gather() override;
  Ticket defer(std::function<void()> abandoned) override;
  Ticket defer_work(std::function<void()> abandoned) override;

  // Begins to read, or closes when the socket cannot be watched. Called once.
  void start(Poller& poller);
  // The mark that the reply was held for has been reached.
  void leave_hold();
  // What became of the call that the loop has made for it: bytes or a negative errno. What was
  // received is in the room.
  void on_moved(ssize_t result, Buffer& room);
  bool awaits(const Ticket& ticket) const;
  // Its time counts from the request on.
  void answer_gathered(const std::function<Mark(std::string*)>& write) { resume(write, measured_); }
  void resume(const std::function<Mark(std::string*)>& write, metrics::Histogram* whole);
  // Ends what has taken too long. Called about once per tick of the loop.
  void check_time();
  void close_if_idle();
  void close();

  std::uint32_t slot() const { return slot_; }
  // Nothing refers to the object any more but its owner.
  bool is_done() const { return state_ == State::closed && !in_hold_; }

 private:
  enum class State : std::uint8_t {
    handshaking,
    reading,
    receiving,
    handling,
    held,
    deferred,
    writing,
    lingering,
    closed,
  };
  // What follows when the response has left.
  enum class Next : std::uint8_t { request, close, linger };

  void shake_hands();
  void await_request();
  void await_readable();
  void await_writable();
  void await_to_read() { crossed_ ? await_writable() : await_readable(); }
  void await_to_write() { crossed_ ? await_readable() : await_writable(); }
  void on_events(std::uint32_t events) override;
  void on_readable();
  void on_writable();

  // What one attempt to read or write came to.
  struct Moved {
    std::size_t bytes = 0;  // None: see below.
    bool later = false;     // There was nothing to read, or no room to write; otherwise it is over.
    bool end = false;       // The other side has said that it sends nothing more.
  };
  Moved read_some(std::span<char> space);
  Moved write_some(std::string_view bytes);
  Moved received(ssize_t result, std::size_t room);
  static Moved moved(ssize_t result);
  Moved moved(const TlsSession::Transfer& transfer, TlsSession::Outcome usual_wait);

  // Receives into `in`. When false there was nothing, and the wait goes on or the connection
  // closed.
  bool receive(Buffer& in);
  bool take(Buffer& in, const Moved& received);
  void read_request();
  void read_ahead();
  void discard_input();

  void serve(Buffer& in);
  bool keep(Buffer& in);
  bool afford_pending(std::size_t bytes);
  void release_pending();
  void hand_over(Buffer& in);
  void answer(Mark after);
  void send_continue();
  void refuse(const Refusal& refusal);

  void begin_writing();
  void write_out();
  bool count_written(const Moved& sent);
  void record_time();
  void await_taking();
  void finish_writing();
  void write_on();
  void read_on();
  void release_out();
  void release_charge();
  void linger();
  void abort();

  Loop& loop_;
  Descriptor socket_;
  const std::string peer_;
  const std::uint32_t slot_;
  std::unique_ptr<TlsSession> tls_;  // None: plain.
  State state_ = State::reading;
  Next next_ = Next::request;
  bool reads_ = false;      // Waits to read.
  bool writes_ = false;     // Waits to write.
  bool readable_ = false;   // There may be something to read.
  bool ended_ = false;      // The client has ended its side, or the connection is broken.
  bool in_hold_ = false;    // The loop's queue of held replies points here.
  bool begun_ = false;      // A part of a request has come.
  bool head_only_ = false;  // The request is a HEAD.
  bool http_1_0_ = false;
  bool replied_ = false;
  bool crossed_ = false;  // TLS cannot read before it has written, or the other way round.
  Mark reply_after_ = 0;
  metrics::Histogram* measured_ = nullptr;  // Wants to know how long the answer takes,
  Poller::Clock::time_point began_;         // since then.
  std::uint64_t since_ = 0;                 // The tick at which the present wait began.
  Parser parser_;
  Buffer pending_;                   // Received, not yet used, and not in a room of the loop.
  std::size_t pending_charged_ = 0;  // Its part of the budget for unfinished requests.
  std::string out_;                  // The response.
  std::size_t out_sent_ = 0;
  std::size_t out_timed_ = 0;     // What was sent when the time for the next part began.
  Budget* out_budget_ = nullptr;  // Of which it has a part: while held, or not taken.
  std::size_t out_charged_ = 0;   // That part.
  std::size_t linger_bytes_left_ = 0;
  std::uint64_t generation_ = 0;  // Of the ticket of the deferred request.
  std::function<void()> abandoned_;
  bool finishes_ = false;  // Deferred, and answered even if the client has stopped sending.
};

}  // namespace redrive::http
