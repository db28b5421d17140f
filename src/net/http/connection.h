#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "net/http/budget.h"
#include "net/http/buffer.h"
#include "net/http/parser.h"
#include "net/http/poller.h"
#include "net/http/server.h"
#include "net/http/tls.h"

namespace redrive::http {

class Loop;

// One client connection. Lives on its loop's thread and is never accessed from another.
//
//   (handshaking ─▶) reading ─▶ handling ─▶ held ─▶ writing ─▶ reading, lingering or closed
//                                   └─▶ deferred ─▶ handling
//
// Without TLS, the first receive of a request and the send of a held reply are batched with those
// of other connections; the state is `receiving` or `writing` until the batch has run.
//
// A reply whose sync point has been reached skips `held`. After a refusal the connection lingers.
//
// Invariants:
//  - `readable_` is false only if epoll will report the next input. The object outlives pending
//    epoll events and its entry in the loop's queue of held replies (see Loop::retire).
//  - Never closed while a batched call is pending: the fd could be reused.
//  - Between requests it owns no buffer and no response string: both are borrowed from the loop.
//  - Its own buffer is charged to the server's budget for incomplete requests, and a response that
//    the client is slow to read to the budget for unsent responses.
//  - A deferred request ends exactly once: by resume(), or by `abandoned` when the connection
//    closes.
class Connection final : public Exchange, private Poller::Watcher {
 public:
  struct Origin {
    std::uint32_t slot;  // Index into the loop's table of connections.
    std::string peer;    // Address without port.
  };
  Connection(Loop& loop, Descriptor socket, Origin origin);

  const Request& request() const override;
  std::string& out() override { return out_; }
  void reply(SyncPoint after) override;
  void measure(metrics::Histogram& into) override { measured_ = &into; }
  ReplyToken gather() override;
  ReplyToken defer(std::function<void()> abandoned) override;
  ReplyToken defer_work(std::function<void()> abandoned) override;

  // Starts reading, or closes if the socket cannot be registered with epoll. Called once.
  void start(Poller& poller);
  // The sync point that the reply was held for has been reached.
  void leave_hold();
  // Completion of a batched call: bytes transferred or a negative errno. Received bytes are in
  // `received`.
  void on_moved(ssize_t result, Buffer& in);
  bool awaits(const ReplyToken& token) const;
  // Like resume(), but the recorded time starts at the request, not at the resumption.
  void answer_gathered(const std::function<SyncPoint(std::string*)>& write) {
    resume(write, measured_);
  }
  void resume(const std::function<SyncPoint(std::string*)>& write, metrics::Histogram* whole);
  // Closes the connection if a time limit has passed. Called about once per tick of the loop.
  void check_time();
  void close_if_idle();
  void close();

  std::uint32_t slot() const { return slot_; }
  // True when only the owner still refers to the object.
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
  // What to do after the response has been sent.
  enum class Next : std::uint8_t { request, close, linger };

  void continue_handshake();
  void await_request();
  void await_readable();
  void await_writable();
  void await_to_read() { crossed_ ? await_writable() : await_readable(); }
  void await_to_write() { crossed_ ? await_readable() : await_writable(); }
  void on_events(std::uint32_t events) override;
  void on_readable();
  void on_writable();

  // Result of one attempt to read or write.
  struct Moved {
    std::size_t bytes = 0;  // 0: see `later` and `end`.
    bool later = false;     // Would block. If false and `bytes` is 0, the connection is finished.
    bool end = false;       // The peer has shut down its sending side.
  };
  Moved read_some(std::span<char> space);
  Moved write_some(std::string_view bytes);
  Moved received(ssize_t result, std::size_t capacity);
  static Moved moved(ssize_t result);
  Moved moved(const TlsSession::Transfer& transfer, TlsSession::Outcome usual_wait);

  // Receives into `in`. Returns false if nothing was received: either still waiting, or closed.
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
  void answer(SyncPoint after);
  void send_continue();
  void refuse(const Refusal& refusal);

  void begin_writing();
  void write_out();
  bool count_written(const Moved& sent);
  void record_time();
  void await_client();
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
  std::unique_ptr<TlsSession> tls_;  // Null: plain HTTP.
  State state_ = State::reading;
  Next next_ = Next::request;
  bool reads_ = false;      // Waiting to read.
  bool writes_ = false;     // Waiting to write.
  bool readable_ = false;   // There may be input to read.
  bool ended_ = false;      // The peer has shut down its sending side, or the connection is broken.
  bool in_hold_ = false;    // The loop's queue of held replies points here.
  bool begun_ = false;      // Part of a request has been received.
  bool head_only_ = false;  // The request is a HEAD.
  bool http_1_0_ = false;
  bool replied_ = false;
  bool crossed_ = false;  // TLS must write before it can read, or vice versa.
  SyncPoint reply_after_ = 0;
  metrics::Histogram* measured_ = nullptr;  // Records how long the response takes,
  Poller::Clock::time_point began_;         // counted from here.
  std::uint64_t since_ = 0;                 // Tick at which the current wait began.
  Parser parser_;
  Buffer pending_;  // Unconsumed input that is not in a receive buffer of the loop.
  std::size_t pending_charged_ = 0;  // Bytes charged to the budget for incomplete requests.
  std::string out_;                  // The response.
  std::size_t out_sent_ = 0;
  std::size_t out_timed_ = 0;     // out_sent_ when the current part's time limit began.
  Budget* out_budget_ = nullptr;  // Charged while the response is held or unsent.
  std::size_t out_charged_ = 0;   // Bytes charged to out_budget_.
  std::size_t linger_bytes_left_ = 0;
  std::uint64_t generation_ = 0;  // Generation of the deferred request's token.
  std::function<void()> abandoned_;
  bool finishes_ = false;  // Deferred, and answered even if the client half-closes.
};

}  // namespace redrive::http
