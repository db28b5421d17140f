#pragma once

namespace redrive::runtime {

// Whether the other end of a connection over loopback belongs to that user. The kernel is asked;
// where it does not tell, the answer is yes.
bool is_peer_of_user(int socket, unsigned user);

}  // namespace redrive::runtime
