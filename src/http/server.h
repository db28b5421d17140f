#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/tls.h"
#include "metrics/histogram.h"

namespace redrive::http {

// A number that only grows, given to a reply that must not leave before Server::release reaches it.
// The owner uses journal sequences; this room knows only that they are ordered.
using Mark = std::uint64_t;

// Names one request that is answered later. Stale tickets are harmless.
struct Ticket {
  std::uint32_t thread = 0;
  std::uint32_t slot = 0;
  std::uint64_t generation = 0;
};

// One request and the place for its answer. A handler does exactly one of: append a response to
// `out` and call reply(), call gather(), or call defer(). After the answer the connection closes if
// request().keep_alive is false; ResponseHead::keep_alive is to say the same.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual std::string& out() = 0;
  // The response in out() is complete; it leaves once release() has reached `after`.
  virtual void reply(Mark after) = 0;
  // Where to record how long the answer took to leave, in microseconds: from here, or from its
  // resumption, until its mark is reached and it is written. It must outlive the server.
  virtual void measure(metrics::Histogram& into) = 0;
  // The answer comes when nothing more is ready, or enough is gathered, through Server::answer: for
  // what is cheaper when it is done for many at once.
  virtual Ticket gather() = 0;
  // The answer comes later through Server::resume. `abandoned` runs on the connection's thread if
  // the client goes away first, or the server ends; afterwards the ticket is stale.
  virtual Ticket defer(std::function<void()> abandoned) = 0;
  // The same for work that ends by itself: a client that stops sending (a half-closed connection)
  // still gets its answer, and `abandoned` runs when the connection is reset.
  virtual Ticket defer_work(std::function<void()> abandoned) { return defer(std::move(abandoned)); }
  // False: the handler runs on a Desk's thread and may take its time.
  virtual bool on_io_thread() const { return true; }
  // The client is gone and nothing will be read: long work may end. Never on an I/O thread.
  virtual bool is_abandoned() const { return false; }
};

// HTTP/1.1 over epoll. Each thread has its own event loop and its own connections; a
// connection handles one request at a time and keeps reading while one is deferred, so that a
// closed connection is noticed.
class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free one; see port().
    unsigned threads = 1;
    Limits limits;
    std::optional<TlsFiles> tls;  // None: plain HTTP.
  };
  struct Hooks {
    // Runs on the connection's thread.
    std::function<void(Exchange&)> handle;
    // Runs on an I/O thread when its gathered requests are to be answered.
    std::function<void()> answer_gathered = {};
    // Runs on an I/O thread after it has worked through everything that was ready, if any reply
    // since the last call is being held: the moment to ask for a sync, so that one sync serves them
    // all. `idle`: the thread would sleep now, so the hook may take its time.
    std::function<void(bool idle)> round_ended;
  };

  static Result<std::unique_ptr<Server>> start(const Options& options, Hooks hooks);
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  // Replies held for marks up to this one may leave. From any thread; costs one wake-up for each
  // I/O thread that holds some.
  virtual void release(Mark reached) = 0;
  // Answers a gathered request, within Hooks::answer_gathered. `write` is as for resume().
  virtual void answer(const Ticket& ticket, const std::function<Mark(std::string* out)>& write) = 0;
  // Answers a deferred request: `write` runs on the connection's thread, appends a complete
  // response and returns the mark to hold it for. If the connection is gone `write` runs with
  // nullptr, so that its owner can put things back. `whole`, if given, gets the time since the
  // request was handed over, waiting included, in place of what Exchange::measure names.
  virtual void resume(Ticket ticket, std::function<Mark(std::string* out)> write,
                      metrics::Histogram* whole = nullptr) = 0;
  // Runs a function on an I/O thread (index modulo thread count), soon.
  virtual void post(unsigned thread, std::function<void()> work) = 0;
  // Runs `work` on I/O thread 0 at about this time from now; one such timer exists, a new call
  // replaces the old.
  virtual void wake_after(std::chrono::milliseconds delay, std::function<void()> work) = 0;
  // Stops accepting and closes idle connections at once; requests in hand are answered, deferred
  // ones too, until `grace` is over. Blocks until all connections are closed or the time is up.
  virtual void drain(std::chrono::milliseconds grace) = 0;
  virtual std::size_t connections() const = 0;
  struct Totals {
    std::uint64_t accepted = 0;  // Connections.
    std::uint64_t bytes_received = 0;
    std::uint64_t bytes_sent = 0;
    // Of the I/O threads: microseconds from one wait for events to the next, and the longest that a
    // handler took.
    metrics::Distribution pass_micros = {};
    std::uint64_t handler_micros_max = 0;
  };
  virtual Totals totals() const = 0;
  // Reads certificate and key again, for connections from now on. When they cannot be used the old
  // ones stay. From any thread; nothing happens without TLS.
  virtual Result<void> reload_tls() = 0;
};

}  // namespace redrive::http
