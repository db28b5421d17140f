#include "bench/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace redrive::bench {
namespace {

constexpr std::size_t kReadBytes = 64u << 10;
constexpr int kPatienceMilliseconds = 30'000;

std::unexpected<Error> system_error(std::string_view what) {
  return fail(ErrorCode::network, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<Connection> Connection::open(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  if (inet_pton(AF_INET, endpoint.address.c_str(), &address.sin_addr) != 1) {
    return fail(ErrorCode::usage, fmt::format("`{}` is not an IPv4 address", endpoint.address));
  }
  Connection connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int fd = connection.fd_;
  if (fd < 0) return system_error("socket");
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error(fmt::format("connect to {}:{}", endpoint.address, endpoint.port));
  }
  const int one = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
    return system_error("socket");
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return system_error("socket");
  return connection;
}

Connection::Connection(Connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      out_(std::move(other.out_)),
      written_(other.written_),
      in_(std::move(other.in_)) {}

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

Result<bool> Connection::flush() {
  while (written_ < out_.size()) {
    const ssize_t size = send(fd_, out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (size < 0 && errno == EAGAIN) return false;
    if (size < 0) return system_error("write");
    written_ += static_cast<std::size_t>(size);
  }
  out_.clear();
  written_ = 0;
  return true;
}

Result<void> Connection::read() {
  char buffer[kReadBytes];
  while (true) {
    const ssize_t size = recv(fd_, buffer, sizeof buffer, 0);
    if (size < 0 && errno == EAGAIN) return {};
    if (size < 0) return system_error("read");
    if (size == 0) return fail(ErrorCode::network, "the server closed the connection");
    in_.append(buffer, static_cast<std::size_t>(size));
    if (static_cast<std::size_t>(size) < sizeof buffer) return {};
  }
}

Result<void> Connection::flush_all() {
  while (!TRY(flush())) RETURN_IF_ERROR(wait_for(POLLOUT));
  return {};
}

Result<void> Connection::read_some() {
  RETURN_IF_ERROR(wait_for(POLLIN));
  return read();
}

Result<void> Connection::wait_for(short events) const {
  pollfd entry{.fd = fd_, .events = events, .revents = 0};
  if (poll(&entry, 1, kPatienceMilliseconds) > 0) return {};
  return fail(ErrorCode::network, "the server does not answer");
}

}  // namespace redrive::bench
