#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/text.h"

namespace redrive::http {

// A client that sends exactly the given bytes, and reads responses by their Content-Length. Reads
// time out after some seconds, so that a silent server fails a test instead of hanging it.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }
  int descriptor() const { return socket_; }

  // False if the peer has disconnected.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // One response, head and body; incomplete if the connection ended early.
  std::string read_response(bool to_head = false) {
    std::size_t head_end;
    while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return std::exchange(received_, {});
    }
    std::size_t bytes = head_end + 4;
    if (!to_head) bytes += content_length(std::string_view(received_).substr(0, bytes));
    while (received_.size() < bytes) {
      if (!receive()) return std::exchange(received_, {});
    }
    std::string response = received_.substr(0, bytes);
    received_.erase(0, bytes);
    return response;
  }

  // Everything up to EOF.
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }
  bool at_end() { return received_.empty() && !receive() && ended_; }

  // Reads at most that many bytes, without blocking.
  void read_some(std::size_t bytes_max) {
    std::string bytes(bytes_max, '\0');
    (void)!::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  }

  // Whether something can be read right now.
  bool has_input() {
    pollfd poll_socket{.fd = socket_, .events = POLLIN, .revents = 0};
    return !received_.empty() || ::poll(&poll_socket, 1, 0) > 0;
  }

  void close_sending() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  // Closes with a reset.
  void reset() {
    const linger abrupt{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
    close();
  }

 private:
  static std::size_t content_length(std::string_view head) {
    constexpr std::string_view kName = "\r\nContent-Length: ";
    const std::size_t at = head.find(kName);
    if (at == std::string_view::npos) return 0;
    const std::string_view rest = head.substr(at + kName.size());
    return parse_int<std::size_t>(rest.substr(0, rest.find('\r'))).value_or(0);
  }

  bool receive() {
    char bytes[16384];
    ssize_t count;
    do {  // A recv with a timeout is not restarted after a signal.
      count = ::recv(socket_, bytes, sizeof bytes, 0);
    } while (count < 0 && errno == EINTR);
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    ended_ = count == 0 || (count < 0 && errno == ECONNRESET);
    return count > 0;
  }

  int socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

inline std::string body_of(const std::string& response) {
  const std::size_t head_end = response.find("\r\n\r\n");
  return head_end == std::string::npos ? "(no response)" : response.substr(head_end + 4);
}

inline int status_of(const std::string& response) {
  return parse_int<int>(std::string_view(response).substr(0, 12).substr(9)).value_or(0);
}

}  // namespace redrive::http
