#include "net/http/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "net/http/loop.h"
#include "net/http/socket_batch.h"

namespace redrive::http {

namespace {

// First buffer size for an incomplete request; the buffer then grows with the bytes that have
// actually arrived, so that a claimed Content-Length alone reserves nothing.
constexpr std::size_t kPendingBytesFirst = 16u << 10;
constexpr std::size_t kPendingGrowth = 4;
constexpr std::size_t kPendingBytesMiddle = 512u << 10;
constexpr Refusal kTooMuchUnfinished = {.status = 503,
                                        .reason = "Too many requests are incomplete; try again."};
// How much of the following requests is read while one is deferred. If a client has sent more than
// this, its disconnect is noticed only when the response is written.
constexpr std::size_t kReadAheadBytesMax = 16u << 10;
// After a refusal, discard further input for a while: closing at once would reset the connection,
// and the client could lose the response.
constexpr std::size_t kLingerBytesMax = 32u << 20;
constexpr std::chrono::milliseconds kLingerTimeMax{2'000};
// reply_time_max applies to each part of this size, so that a slow client can still download a
// large response.
constexpr std::size_t kTimedBytes = 64u << 10;
// Smaller responses are not charged to the budget while they are held; the accounting would cost
// more than it is worth.
constexpr std::size_t kHeldBytesCounted = 16u << 10;
constexpr Refusal kTooMuchHeld = {
    .status = 503, .reason = "Too many responses are waiting to be sent; try again."};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Larger requests are refused earlier, so that a few clients with large requests cannot shut out
// clients with small ones.
std::size_t ceiling_for(std::size_t bytes, const Budget& budget) {
  const std::size_t eighths = bytes <= kPendingBytesFirst    ? 8
                              : bytes <= kPendingBytesMiddle ? 7
                                                             : 6;
  return budget.bytes_max() / 8 * eighths;
}

}  // namespace

Connection::Connection(Loop& loop, Descriptor socket, Origin origin)
    : loop_(loop), socket_(std::move(socket)), peer_(std::move(origin.peer)), slot_(origin.slot) {}

const Request& Connection::request() const {
  return loop_.request();
}

void Connection::start(Poller& poller) {
  if (!poller.watch(socket_, *this)) return close();
  if (loop_.tls() == nullptr) return await_request();
  tls_ = std::make_unique<TlsSession>(*loop_.tls(), socket_.number());
  state_ = State::handshaking;
  since_ = loop_.ticks();
  await_readable();
}

void Connection::continue_handshake() {
  switch (tls_->handshake()) {
    case TlsSession::Outcome::done:
      return await_request();
    case TlsSession::Outcome::want_read:
      readable_ = false;
      return await_readable();
    case TlsSession::Outcome::want_write:
      return await_writable();
    case TlsSession::Outcome::plain_http:
      tls_.reset();
      return refuse({.status = 400, .reason = "This port speaks HTTPS, not HTTP."});
    case TlsSession::Outcome::ended:
      return close();
  }
}

// --- Waiting ---

void Connection::await_request() {
  state_ = State::reading;
  const bool begun = !pending_.empty();
  if (!begun || !begun_) since_ = loop_.ticks();
  begun_ = begun;
  await_readable();
}

void Connection::await_readable() {
  if (reads_) return;
  reads_ = true;
  // epoll reports neither input that it has already reported nor bytes that TLS has already
  // decrypted.
  const bool unannounced = readable_ || (tls_ && tls_->has_pending());
  if (unannounced) loop_.post([this] { on_readable(); });
}

void Connection::await_writable() {
  writes_ = true;
}

void Connection::on_events(std::uint32_t events) {
  constexpr std::uint32_t kOver = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if ((events & kOver) != 0) ended_ = true;
  // Reset, or closed in both directions: the response could not be delivered.
  if ((events & (EPOLLHUP | EPOLLERR)) != 0 && state_ == State::deferred) return close();
  if ((events & (EPOLLIN | kOver)) != 0) {
    readable_ = true;
    on_readable();
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) on_writable();
}

void Connection::on_readable() {
  if (state_ == State::closed || !std::exchange(reads_, false)) return;
  switch (state_) {
    case State::handshaking:
      return continue_handshake();
    case State::reading:
      return read_request();
    case State::deferred:
      return read_ahead();
    case State::lingering:
      return discard_input();
    case State::writing:
      if (crossed_) write_on();
      return;
    default:
      return;  // Stale event from a deferred request; reading resumes after the response.
  }
}

void Connection::on_writable() {
  if (state_ == State::closed || !std::exchange(writes_, false)) return;
  switch (state_) {
    case State::handshaking:
      return continue_handshake();
    case State::writing:
      return write_on();
    case State::reading:
      return read_request();  // TLS had to write before it could read.
    case State::deferred:
      return read_ahead();
    default:
      return;
  }
}

void Connection::check_time() {
  const std::uint64_t waited = loop_.ticks() - since_;
  const Limits& limits = loop_.limits();
  switch (state_) {
    case State::handshaking:
      if (waited > loop_.ticks_in(limits.request_time_max)) close();
      return;
    case State::reading:
      if (!begun_ && waited > loop_.ticks_in(limits.idle_time_max)) close();
      if (begun_ && waited > loop_.ticks_in(limits.request_time_max)) {
        refuse({.status = 408, .reason = "The request took too long to arrive."});
      }
      return;
    case State::writing:
      if (waited > loop_.ticks_in(limits.reply_time_max)) abort();
      return;
    case State::lingering:
      if (waited > loop_.ticks_in(kLingerTimeMax)) close();
      return;
    default:
      return;  // A request is being handled.
  }
}

// --- Reading ---

Connection::Moved Connection::moved(const TlsSession::Transfer& transfer,
                                    TlsSession::Outcome usual_wait) {
  using Outcome = TlsSession::Outcome;
  crossed_ = false;
  if (transfer.outcome == Outcome::done) return {.bytes = transfer.bytes};
  if (transfer.outcome == Outcome::want_read) readable_ = false;
  const bool waits =
      transfer.outcome == Outcome::want_read || transfer.outcome == Outcome::want_write;
  crossed_ = waits && transfer.outcome != usual_wait;
  return {.later = waits};
}

Connection::Moved Connection::read_some(std::span<char> space) {
  if (tls_) return moved(tls_->read(space), TlsSession::Outcome::want_read);
  return received(receive_now(socket_.number(), space), space.size());
}

Connection::Moved Connection::received(ssize_t result, std::size_t capacity) {
  // A short read drains the socket, unless EOF was reported too: then the EOF is still to be read.
  if (result < static_cast<ssize_t>(capacity)) readable_ = ended_;
  return moved(result);
}

Connection::Moved Connection::write_some(std::string_view bytes) {
  if (tls_) return moved(tls_->write(bytes), TlsSession::Outcome::want_write);
  return moved(send_now(socket_.number(), bytes));
}

Connection::Moved Connection::moved(ssize_t result) {
  if (result > 0) return {.bytes = static_cast<std::size_t>(result)};
  return {.later = result == -EAGAIN, .end = result == 0};
}

bool Connection::receive(Buffer& in) {
  const std::span<char> space = in.space();
  assert(!space.empty());  // With an empty buffer, a result of 0 would look like EOF.
  return take(in, read_some(space));
}

bool Connection::take(Buffer& in, const Moved& received) {
  in.commit(received.bytes);
  if (received.bytes > 0) {
    loop_.traffic().bytes_received.add(received.bytes);
    return true;
  }
  if (received.later) {
    await_to_read();
  } else if (!(received.end && state_ == State::deferred && finishes_)) {
    close();
  }  // Otherwise EOF is read again after the response.
  return false;
}

void Connection::read_request() {
  if (pending_.empty() && !tls_) {
    state_ = State::receiving;
    return loop_.receive_together(*this, socket_.number());
  }
  if (pending_.empty()) {
    Buffer in = loop_.receive_buffer();
    if (receive(in)) serve(in);
    return;
  }
  const std::size_t useful = parser_.bytes_useful(loop_.limits());
  const std::size_t capacity =
      std::min(useful, std::max(kPendingBytesFirst, pending_.size() * kPendingGrowth));
  if (!afford_pending(capacity)) return refuse(kTooMuchUnfinished);
  pending_.reserve(capacity);
  if (receive(pending_)) serve(pending_);
}

void Connection::read_ahead() {
  if (pending_.size() >= kReadAheadBytesMax || !afford_pending(kReadAheadBytesMax)) return;
  pending_.reserve(kReadAheadBytesMax);
  if (receive(pending_)) await_readable();
}

void Connection::discard_input() {
  Buffer in = loop_.receive_buffer();
  if (!receive(in)) return;
  const std::size_t bytes = in.size();
  if (bytes > linger_bytes_left_) return close();
  linger_bytes_left_ -= bytes;
  await_readable();
}

// --- Serving ---

// Handles requests in `in` until one cannot be answered at once or no complete request is left.
void Connection::serve(Buffer& in) {
  while (state_ == State::reading && !in.empty()) {
    switch (parser_.parse(in, loop_.limits(), loop_.request())) {
      case Parser::Status::complete:
        if (!loop_.held().is_spent()) {
          hand_over(in);
          break;
        }
        in.consume(in.size());
        refuse(kTooMuchHeld);
        break;
      case Parser::Status::need_more:
        return keep(in) ? await_request() : refuse(kTooMuchUnfinished);
      case Parser::Status::send_continue:
        return keep(in) ? send_continue() : refuse(kTooMuchUnfinished);
      case Parser::Status::refused:
        in.consume(in.size());
        refuse(parser_.refusal());
        break;
    }
  }
  // If the bytes after the current request do not fit in the budget, drop them and close after the
  // response; the client has to reconnect.
  if (!keep(in)) next_ = Next::close;
  if (state_ == State::reading) await_request();
}

// Moves the unconsumed bytes of the loop's receive buffer to this connection's own buffer, which
// exists only while needed. Returns false if they do not fit in the budget.
bool Connection::keep(Buffer& in) {
  if (&in == &pending_) {
    if (pending_.empty()) release_pending();
    return true;
  }
  const bool wanted = state_ != State::closed && !in.empty();
  const bool affordable = !wanted || afford_pending(pending_.size() + in.size());
  if (wanted && affordable) pending_.append(in.unread());
  in.consume(in.size());
  return affordable;
}

// Charges a buffer of `bytes` in total to the budget. Returns false if the budget is exhausted.
bool Connection::afford_pending(std::size_t bytes) {
  if (bytes <= pending_charged_) return true;
  Budget& budget = loop_.unfinished();
  if (!budget.take(bytes - pending_charged_, ceiling_for(bytes, budget))) return false;
  pending_charged_ = bytes;
  return true;
}

void Connection::release_pending() {
  pending_.release();
  if (pending_charged_ > 0) loop_.unfinished().give_back(std::exchange(pending_charged_, 0));
}

void Connection::hand_over(Buffer& in) {
  Request& request = loop_.request();
  request.peer = peer_;
  request.secure = tls_ != nullptr;
  if (loop_.draining()) request.keep_alive = false;
  next_ = request.keep_alive ? Next::request : Next::close;
  head_only_ = request.method == "HEAD";
  http_1_0_ = parser_.http_1_0();
  out_ = loop_.take_string();
  replied_ = false;
  began_ = Poller::Clock::now();
  state_ = State::handling;
  loop_.note_handler(began_);
  loop_.hooks().handle(*this);
  assert(replied_ || state_ == State::deferred);  // Exactly one of the two.

  in.consume(parser_.request_bytes());
  parser_.reset();
  begun_ = false;
  if (state_ == State::deferred) return await_readable();
  answer(reply_after_);
}

void Connection::reply(SyncPoint after) {
  assert(state_ == State::handling && !replied_);
  replied_ = true;
  reply_after_ = after;
}

ReplyToken Connection::gather() {
  loop_.note_gathered();
  return defer_work({});
}

ReplyToken Connection::defer_work(std::function<void()> abandoned) {
  const ReplyToken token = defer(std::move(abandoned));
  finishes_ = true;
  return token;
}

ReplyToken Connection::defer(std::function<void()> abandoned) {
  assert(state_ == State::handling && !replied_);
  state_ = State::deferred;
  finishes_ = false;
  abandoned_ = std::move(abandoned);
  loop_.give_back(std::exchange(out_, {}));
  const ReplyToken token = loop_.make_token(*this);
  generation_ = token.generation;
  return token;
}

bool Connection::awaits(const ReplyToken& token) const {
  return state_ == State::deferred && generation_ == token.generation;
}

void Connection::resume(const std::function<SyncPoint(std::string*)>& write,
                        metrics::Histogram* whole) {
  assert(state_ == State::deferred);
  state_ = State::handling;
  abandoned_ = nullptr;
  if (whole != nullptr) {
    measured_ = whole;
  } else {
    began_ = Poller::Clock::now();
  }
  out_ = loop_.take_string();
  answer(write(&out_));
  read_on();
}

// The response in out_ is complete: adapts it to the request (HEAD, HTTP/1.0), then sends it or
// holds it until its sync point is reached.
void Connection::answer(SyncPoint after) {
  assert(!out_.empty());
  if (head_only_) out_.resize(std::min(out_.find("\r\n\r\n") + 4, out_.size()));
  if (http_1_0_ && next_ == Next::request) {
    out_.insert(out_.find("\r\n") + 2, "Connection: keep-alive\r\n");
  }
  if (loop_.is_released(after)) return write_out();
  state_ = State::held;
  in_hold_ = true;
  if (out_.size() >= kHeldBytesCounted) {
    out_budget_ = &loop_.held();
    out_charged_ = out_.size();
    out_budget_->charge(out_charged_);
  }
  loop_.hold(after, *this);
}

void Connection::leave_hold() {
  in_hold_ = false;
  if (state_ == State::closed) return loop_.retire(*this);
  release_charge();
  if (tls_) return write_on();
  begin_writing();
  loop_.send_together(*this, socket_.number(), out_);
}

void Connection::on_moved(ssize_t result, Buffer& in) {
  if (state_ == State::writing) {
    if (count_written(moved(result))) write_on();
    return;
  }
  assert(state_ == State::receiving);
  state_ = State::reading;
  if (take(in, received(result, in.space().size()))) serve(in);
}

void Connection::send_continue() {
  begun_ = true;
  out_.assign(kContinue);
  next_ = Next::request;
  write_on();
}

void Connection::refuse(const Refusal& refusal) {
  out_ = loop_.take_string();
  const std::size_t length_at = begin_response(
      out_, {.status = refusal.status, .content_type = "text/plain", .keep_alive = false});
  out_.append(refusal.reason).append("\n");
  end_response(out_, length_at);
  next_ = Next::linger;
  write_out();
}

// --- Writing ---

void Connection::record_time() {
  const auto taken = Poller::Clock::now() - began_;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
  std::exchange(measured_, nullptr)->record(static_cast<std::uint64_t>(micros));
}

// Writes as much as possible now; the rest is sent when the socket becomes writable. Once
// everything is written, state_ is the state that follows.
void Connection::write_out() {
  begin_writing();
  while (out_sent_ < out_.size()) {
    if (!count_written(write_some(std::string_view(out_).substr(out_sent_)))) return;
  }
  finish_writing();
}

void Connection::begin_writing() {
  if (measured_ != nullptr) record_time();
  if (state_ != State::writing) since_ = loop_.ticks();
  state_ = State::writing;
}

// Returns false if nothing was written: either waiting for the client, or closed.
bool Connection::count_written(const Moved& sent) {
  if (sent.bytes == 0) {
    sent.later ? await_client() : close();
    return false;
  }
  out_sent_ += sent.bytes;
  loop_.traffic().bytes_sent.add(sent.bytes);
  if (out_sent_ - out_timed_ < kTimedBytes) return true;
  out_timed_ = out_sent_;
  since_ = loop_.ticks();
  return true;
}

// The client reads more slowly than we write. The sum of such responses is bounded; beyond it the
// connection is aborted and the response is lost.
void Connection::await_client() {
  if (out_charged_ == 0) {
    Budget& budget = loop_.unsent();
    if (!budget.take(out_.size(), budget.bytes_max())) return abort();
    out_budget_ = &budget;
    out_charged_ = out_.size();
  }
  await_to_write();
}

void Connection::finish_writing() {
  release_out();
  if (next_ == Next::linger) return linger();
  const bool idle_while_draining = loop_.draining() && !begun_;
  if (next_ == Next::close || idle_while_draining) return close();
  state_ = State::reading;
}

void Connection::release_out() {
  out_sent_ = out_timed_ = 0;
  release_charge();
  loop_.give_back(std::exchange(out_, {}));
}

void Connection::release_charge() {
  if (out_charged_ > 0) out_budget_->give_back(std::exchange(out_charged_, 0));
}

void Connection::write_on() {
  write_out();
  read_on();
}

void Connection::read_on() {
  if (state_ == State::reading) serve(pending_);
}

void Connection::linger() {
  state_ = State::lingering;
  since_ = loop_.ticks();
  release_pending();
  if (tls_) tls_->send_close_notify();
  tls_.reset();  // Further input is discarded undecrypted.
  linger_bytes_left_ = kLingerBytesMax;
  ::shutdown(socket_.number(), SHUT_WR);
  await_readable();
}

// Closes with a reset, so that the kernel does not keep trying to deliver the unsent response.
void Connection::abort() {
  const struct linger now { .l_onoff = 1, .l_linger = 0 };
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void Connection::close_if_idle() {
  const bool idle = state_ == State::reading && !begun_;
  if (idle || state_ == State::handshaking) close();
}

void Connection::close() {
  if (state_ == State::closed) return;
  assert(state_ != State::handling && state_ != State::receiving);
  const bool was_deferred = state_ == State::deferred;
  state_ = State::closed;
  if (tls_) tls_->send_close_notify();
  socket_.close();
  tls_.reset();
  release_pending();
  release_out();
  loop_.note_closed();
  loop_.retire(*this);
  const auto abandoned = std::exchange(abandoned_, nullptr);
  if (was_deferred && abandoned) abandoned();
}

}  // namespace redrive::http
