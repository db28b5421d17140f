#include "functions/runtime/peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "net/http/poller.h"

namespace redrive::runtime {
namespace {

struct DiagRequest {
  nlmsghdr head{};
  inet_diag_req_v2 body{};
};

// Queries the socket at the other end of ours.
DiagRequest request_for(const sockaddr_in& own, const sockaddr_in& other) {
  DiagRequest request;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = AF_INET;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0u;
  request.body.id.idiag_sport = other.sin_port;
  request.body.id.idiag_dport = own.sin_port;
  request.body.id.idiag_src[0] = other.sin_addr.s_addr;
  request.body.id.idiag_dst[0] = own.sin_addr.s_addr;
  request.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

}  // namespace

bool is_peer_of_user(int socket, unsigned user) {
  sockaddr_in own{};
  sockaddr_in other{};
  socklen_t own_bytes = sizeof own;
  socklen_t other_bytes = sizeof other;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_bytes) != 0) return false;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&other), &other_bytes) != 0) return false;
  const http::Descriptor kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const DiagRequest request = request_for(own, other);
  if (!kernel.is_open()) return true;
  if (::send(kernel.number(), &request, sizeof request, 0) != sizeof request) return true;
  alignas(nlmsghdr) std::array<char, 8192> answer;
  const ssize_t bytes = ::recv(kernel.number(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (bytes < static_cast<ssize_t>(sizeof(nlmsghdr))) return true;
  nlmsghdr head;
  std::memcpy(&head, answer.data(), sizeof head);
  if (head.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error;
    std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
    return error.error != -ENOENT;  // Already closed, or never existed.
  }
  inet_diag_msg found;
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
  return found.idiag_uid == user;
}

}  // namespace redrive::runtime
