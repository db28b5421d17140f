#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http/limits.h"
#include "net/http/message.h"
#include "net/http/tls.h"
#include "observe/metrics/histogram.h"

namespace redrive::http {

// A monotonic number that holds a reply back until Server::release() reaches it. The application
// uses journal sequences; this module only needs them to be ordered.
using SyncPoint = std::uint64_t;

// Identifies one request that is answered later. Stale tokens are ignored.
struct ReplyToken {
  std::uint32_t thread = 0;
  std::uint32_t slot = 0;
  std::uint64_t generation = 0;
};

// One request and its response. A handler does exactly one of: append a response to `out` and call
// reply(), call gather(), or call defer(). After the response the connection closes if
// request().keep_alive is false; ResponseHead::keep_alive must have the same value.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual std::string& out() = 0;
  // The response in out() is complete; it is sent once release() has reached `after`.
  virtual void reply(SyncPoint after) = 0;
  // Records how long the response took in microseconds: from here, or from its resumption, until it
  // has been released and written. `into` must outlive the server.
  virtual void measure(metrics::Histogram& into) = 0;
  // Postpones the response until nothing more is ready or enough requests are gathered; it is then
  // given through Server::answer. For work that is cheaper in batches.
  virtual ReplyToken gather() = 0;
  // The response is given later through Server::resume. If the client disconnects first, or the
  // server stops, `abandoned` runs on the connection's thread and the token becomes stale.
  virtual ReplyToken defer(std::function<void()> abandoned) = 0;
  // Like defer(), for work that ends by itself: a client that half-closes the connection still gets
  // its response; `abandoned` runs only if the connection is reset.
  virtual ReplyToken defer_work(std::function<void()> abandoned) {
    return defer(std::move(abandoned));
  }
  // False: the handler runs on an OffloadPool thread and may block.
  virtual bool on_io_thread() const { return true; }
  // The client has disconnected and will read no response, so long-running work may stop. Always
  // false on an I/O thread.
  virtual bool is_abandoned() const { return false; }
};

// HTTP/1.1 over epoll. Each thread has its own event loop and connections. A connection handles one
// request at a time and keeps reading while one is deferred, so that a disconnect is noticed.
class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port; see port().
    unsigned threads = 1;
    Limits limits;
    std::optional<TlsFiles> tls;  // nullopt: plain HTTP.
  };
  struct Hooks {
    // Runs on the connection's thread.
    std::function<void(Exchange&)> handle;
    // Runs on an I/O thread when its gathered requests should be answered.
    std::function<void()> answer_gathered = {};
    // Runs on an I/O thread after it has handled everything that was ready, if replies made since
    // the last call are held: the moment to request a sync, so that one sync serves them all.
    // `idle`: the thread would sleep now, so the hook may block.
    std::function<void(bool idle)> round_ended;
  };

  // Binds the port. Clients may connect from now on; their requests are handled once run() is
  // called, so that what the hooks use can be given the server before its first request.
  static Result<std::unique_ptr<Server>> open(const Options& options);
  // Starts the I/O threads. Call it once.
  virtual Result<void> run(Hooks hooks) = 0;
  // Both, where the hooks need no server.
  static Result<std::unique_ptr<Server>> start(const Options& options, Hooks hooks);
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  // Lets replies held for sync points up to `reached` leave. Thread-safe; costs one wake-up for
  // each I/O thread that holds such replies.
  virtual void release(SyncPoint reached) = 0;
  // Answers a gathered request; call within Hooks::answer_gathered. `write` as for resume().
  virtual void answer(const ReplyToken& token,
                      const std::function<SyncPoint(std::string* out)>& write) = 0;
  // Answers a deferred request: `write` runs on the connection's thread, appends a complete
  // response and returns the sync point to hold it for. If the connection is gone, `write` runs
  // with nullptr, so that the caller can undo its work. `whole`, if given, records the time since
  // the request was handed to the handler, including the wait, instead of the histogram given to
  // Exchange::measure.
  virtual void resume(ReplyToken token, std::function<SyncPoint(std::string* out)> write,
                      metrics::Histogram* whole = nullptr) = 0;
  // Runs a function soon on an I/O thread (index modulo thread count).
  virtual void post(unsigned thread, std::function<void()> work) = 0;
  // Runs `work` on I/O thread 0 after about `delay`. There is one such timer: a new call replaces
  // the previous one.
  virtual void wake_after(std::chrono::milliseconds delay, std::function<void()> work) = 0;
  // Stops accepting and closes idle connections at once. Requests in progress, including deferred
  // ones, are answered until `grace` is over. Blocks until all connections are closed or the time
  // is up.
  virtual void drain(std::chrono::milliseconds grace) = 0;
  virtual std::size_t connections() const = 0;
  struct Totals {
    std::uint64_t accepted = 0;  // Connections.
    std::uint64_t bytes_received = 0;
    std::uint64_t bytes_sent = 0;
    // Over all I/O threads: duration of a pass in microseconds (from one wait for events to the
    // next), and the longest time spent in a handler.
    metrics::Distribution pass_micros = {};
    std::uint64_t handler_micros_max = 0;
  };
  virtual Totals totals() const = 0;
  // Reloads certificate and key for new connections; keeps the previous ones if that fails.
  // Thread-safe; does nothing without TLS.
  virtual Result<void> reload_tls() = 0;
};

}  // namespace redrive::http
