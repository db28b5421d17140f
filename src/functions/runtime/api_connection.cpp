#include "functions/runtime/api_connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "functions/runtime/invoker.h"

namespace redrive::runtime {
namespace {

constexpr std::size_t kReceiveBytesMin = 64u << 10;
constexpr std::size_t kKeptBytesMax = 1u << 20;  // By a connection between requests.
// A runtime that waits for an event has nothing to send.
constexpr std::size_t kReadAheadBytesMax = 64u << 10;
constexpr std::string_view kContinueLine = "HTTP/1.1 100 Continue\r\n\r\n";

// Generous: even a far too large response is read, so that the runtime gets an error that says why;
// and the header with the cause for X-Ray may be a megabyte.
const http::Limits& api_limits() {
  static const http::Limits limits = [] {
    http::Limits value;
    value.head_bytes_max = 2u << 20;
    value.headers_max = 200;
    value.body_bytes_max = 64u << 20;
    return value;
  }();
  return limits;
}

}  // namespace

bool ApiConnection::open(Descriptor input, Descriptor output) {
  is_piped_ = output.is_open();
  const int on = 1;
  if (!is_piped_) ::setsockopt(input.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto told_output = [this](std::uint32_t events) { on_output(events); };
  if (is_piped_ && !output_.open(poller_, std::move(output), told_output)) return false;
  return input_.open(poller_, std::move(input), [this](std::uint32_t events) { on_input(events); });
}

void ApiConnection::close() {
  if (!input_.is_open()) return;
  input_.close();
  output_.close();
  owner_.on_closed(*this);
}

void ApiConnection::on_input(std::uint32_t events) {
  const bool over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (!is_piped_ && !out_.empty() && !flush_posted_) flush();
  for (bool more = true; more && input_.is_open();) {
    more = receive(over);
    serve();
    if (handling_ && in_.size() > kReadAheadBytesMax) close();
  }
}

void ApiConnection::on_output(std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return lose_output();
  if (!out_.empty() && !flush_posted_) flush();
}

// A peer that stopped reading may have written something before.
void ApiConnection::lose_output() {
  if (!is_piped_) return close();
  output_.close();
  out_.clear();
  out_sent_ = 0;
}

void ApiConnection::serve_rest() {
  on_input(EPOLLHUP);
}

// Returns true if there may be more. After hang-up, drains to EOF.
bool ApiConnection::receive(bool over) {
  // A pipe delivers little at a time: use up the free space before growing the buffer.
  if (in_.space().size() < kReceiveBytesMin)
    in_.reserve(in_.size() + std::max(kReceiveBytesMin, in_.size()));
  const auto space = in_.space();
  const ssize_t count = ::read(input_.number(), space.data(), space.size());
  if (count > 0) {
    in_.commit(static_cast<std::size_t>(count));
    owner_.on_bytes();
    return over || static_cast<std::size_t>(count) == space.size();
  }
  if (count < 0 && errno == EINTR) return true;
  const bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (!later) close();
  return false;
}

void ApiConnection::serve() {
  if (serving_) return;
  if (refused_) return in_.consume(in_.size());
  serving_ = true;
  while (input_.is_open() && !handling_ && !in_.empty()) {
    http::Request request;
    const auto status = parser_.parse(in_, api_limits(), request);
    if (status == http::Parser::Status::need_more) break;
    if (status == http::Parser::Status::send_continue) {
      out_ += kContinueLine;
      flush_soon();
      break;
    }
    if (status == http::Parser::Status::refused) {
      refused_ = true;
      keep_alive_ = false;
      handling_ = true;
      owner_.on_refused(*this, parser_.refusal().status);
      in_.consume(in_.size());
      break;
    }
    handle(request);
  }
  if (in_.empty() && in_.capacity() > kKeptBytesMax) in_.release();
  serving_ = false;
  if (out_sent_ < out_.size()) flush_soon();
}

void ApiConnection::handle(const http::Request& request) {
  handling_ = true;
  keep_alive_ = request.keep_alive;
  owner_.on_request(*this, request);
  in_.consume(parser_.request_bytes());
  parser_.reset();
}

void ApiConnection::answer(int status, std::span<const http::Header> headers,
                           std::string_view body) {
  assert(handling_);
  handling_ = false;
  if (!input_.is_open()) return;
  write_answer(status, headers, body);
  serve();  // Bytes that arrived after the deferred request.
}

// Our bootstraps expect these two headers first, in this order.
void ApiConnection::answer_ahead(std::string_view ahead, std::span<const http::Header> headers,
                                 std::string_view body) {
  if (!input_.is_open()) return;
  const auto out = std::back_inserter(out_);
  fmt::format_to(
      out, "HTTP/1.1 200 OK\r\nRedrive-Ahead: {}\r\nContent-Length: {}\r\n", ahead, body.size());
  for (const auto& [name, value] : headers) fmt::format_to(out, "{}: {}\r\n", name, value);
  out_.append("\r\n").append(body);
  flush_soon();
}

void ApiConnection::write_answer(int status, std::span<const http::Header> headers,
                                 std::string_view body) {
  const std::size_t mark = http::begin_response(out_,
                                                {.status = status,
                                                 .content_type = "application/json",
                                                 .headers = headers,
                                                 .keep_alive = keep_alive_});
  out_ += body;
  http::end_response(out_, mark);
  flush_soon();
}

void ApiConnection::flush_soon() {
  // While serving, flush() is called at the end of it, after tasks that may send more.
  if (flush_posted_ || serving_) return;
  flush_posted_ = true;
  poller_.post([this] { flush(); });
}

void ApiConnection::flush() {
  flush_posted_ = false;
  const int output = is_piped_ ? output_.number() : input_.number();
  while (is_heard() && out_sent_ < out_.size()) {
    const ssize_t count = ::write(output, out_.data() + out_sent_, out_.size() - out_sent_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count < 0) return lose_output();
    out_sent_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  out_sent_ = 0;
  if (!keep_alive_ && !handling_) close();
}

}  // namespace redrive::runtime
