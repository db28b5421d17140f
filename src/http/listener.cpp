#include "http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace redrive::http {

namespace {

constexpr int kBacklog = 4096;
// Clients accepted in a row before others have their turn.
constexpr int kAcceptsMax = 64;
// How long to wait when the process is out of descriptors or memory.
constexpr std::chrono::milliseconds kPause{100};
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    "Content-Length: 22\r\n\r\nToo many connections.\n";

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return text;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  constexpr std::string_view kMappedPrefix = "::ffff:";  // An IPv4 client of an IPv6 socket.
  std::string_view result = text;
  if (result.starts_with(kMappedPrefix) && result.find('.') != std::string_view::npos) {
    result.remove_prefix(kMappedPrefix.size());
  }
  return std::string(result);
}

void turn_away(int descriptor, std::string_view words) {
  // As far as it goes without waiting: a server that is full has no place for the polite way.
  (void)!::send(descriptor, words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(descriptor, SHUT_WR);
  ::close(descriptor);
}

}  // namespace

Listener::Listener(asio::io_context& context, Shared& shared, Adopt adopt)
    : shared_(shared), adopt_(std::move(adopt)), acceptor_(context), pause_timer_(context) {}

Result<void> Listener::open(const std::string& address, std::uint16_t port) {
  error_code error;
  asio::ip::basic_resolver<asio::ip::tcp, IoExecutor> resolver(acceptor_.get_executor());
  const auto found =
      resolver.resolve(address, std::to_string(port), asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    return fail(ErrorCode::usage, fmt::format("Cannot resolve {}: {}", address, error.message()));
  }
  return listen(found.begin()->endpoint());
}

Result<void> Listener::listen(const asio::ip::tcp::endpoint& endpoint) {
  error_code error;
  protocol_ = endpoint.protocol();
  acceptor_.open(protocol_, error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6() && endpoint.address().to_v6().is_unspecified()) {
    acceptor_.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (error) {
    return fail(ErrorCode::usage,
                fmt::format("Cannot listen on {} port {}: {}",
                            endpoint.address().to_string(),
                            endpoint.port(),
                            error.message()));
  }
  ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
  return {};
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_timer_.cancel();
}

void Listener::await_client() {
  acceptor_.async_wait(Acceptor::wait_read, [this](const error_code& error) {
    if (!error) accept_some();
  });
}

void Listener::accept_some() {
  for (int i = 0; i < kAcceptsMax; ++i) {
    sockaddr_storage address{};
    socklen_t address_bytes = sizeof address;
    const int descriptor = ::accept4(acceptor_.native_handle(),
                                     reinterpret_cast<sockaddr*>(&address),
                                     &address_bytes,
                                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      admit({.descriptor = descriptor, .protocol = protocol_, .peer = address_text(address)});
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    }
  }
  await_client();
}

void Listener::admit(Accepted accepted) {
  // Only the listener adds, so the number cannot grow in between.
  if (shared_.connections.load() >= shared_.limits.connections_max) {
    return turn_away(accepted.descriptor, shared_.tls ? std::string_view() : kFull);
  }
  shared_.connections.fetch_add(1);
  adopt_(std::move(accepted));
}

// Without a pause the listening socket would stay readable and keep the thread busy for nothing.
void Listener::pause() {
  pause_timer_.expires_after(kPause);
  pause_timer_.async_wait([this](const error_code& error) {
    if (!error) await_client();
  });
}

}  // namespace redrive::http
