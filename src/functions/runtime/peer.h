#pragma once

namespace redrive::runtime {

// Whether the peer of a loopback connection belongs to that user, according to the kernel; true if
// the kernel does not tell.
bool is_peer_of_user(int socket, unsigned user);

}  // namespace redrive::runtime
