#include "net/http/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace redrive::http {

namespace {

constexpr int kBacklog = 4096;
// Connections accepted in a row before other events get a chance to run.
constexpr int kAcceptsMax = 64;
// How long to stop accepting when the process is out of descriptors or memory.
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

void reject(Descriptor client, std::string_view words) {
  // Best effort, without blocking: when the server is full, no connection slot is spent on a
  // graceful close.
  (void)!::send(client.number(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(client.number(), SHUT_WR);
}

bool is_any_v6(const addrinfo& endpoint) {
  if (endpoint.ai_family != AF_INET6) return false;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(*endpoint.ai_addr);
  return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t address_bytes = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &address_bytes);
  // sin_port and sin6_port have the same offset.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

Listener::Listener(Poller& poller, Shared& shared, Adopt adopt)
    : shared_(shared),
      adopt_(std::move(adopt)),
      poller_(poller),
      pause_timer_(poller, [this] { accept_some(); }) {}

Result<void> Listener::open(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  if (error != 0) {
    return fail(ErrorCode::usage,
                fmt::format("Cannot resolve {}: {}", address, ::gai_strerror(error)));
  }
  if (!listen(*found)) {
    return fail(ErrorCode::usage,
                fmt::format("Cannot listen on {} port {}: {}",
                            address,
                            port,
                            std::generic_category().message(errno)));
  }
  return {};
}

// Returns false with the reason in errno.
bool Listener::listen(const addrinfo& endpoint) {
  socket_ = Descriptor(
      ::socket(endpoint.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket_.is_open()) return false;
  const int on = 1;
  const int off = 0;
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (is_any_v6(endpoint)) {
    ::setsockopt(socket_.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(socket_.number(), endpoint.ai_addr, endpoint.ai_addrlen) != 0) return false;
  if (::listen(socket_.number(), kBacklog) != 0) return false;
  port_ = port_of(socket_.number());
  return poller_.watch(socket_, *this);
}

void Listener::close() {
  socket_.close();
  pause_timer_.cancel();
}

void Listener::on_events(std::uint32_t) {
  accept_some();
}

void Listener::accept_some() {
  if (!socket_.is_open()) return;
  for (int i = 0; i < kAcceptsMax; ++i) {
    sockaddr_storage address{};
    socklen_t address_bytes = sizeof address;
    Descriptor client(::accept4(socket_.number(),
                                reinterpret_cast<sockaddr*>(&address),
                                &address_bytes,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client.is_open()) {
      admit({.socket = std::move(client), .peer = address_text(address)});
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }
  }
  poller_.post([this] { accept_some(); });
}

void Listener::admit(Accepted accepted) {
  // Only the listener increments the counter, so it cannot grow between check and increment.
  if (shared_.connections.load() >= shared_.limits.connections_max) {
    return reject(std::move(accepted.socket), shared_.tls ? std::string_view() : kFull);
  }
  shared_.connections.fetch_add(1);
  adopt_(std::move(accepted));
}

// Edge-triggered epoll reports only new clients, so those already waiting are accepted by a timer.
void Listener::pause() {
  pause_timer_.set(Poller::Clock::now() + kPause);
}

}  // namespace redrive::http
