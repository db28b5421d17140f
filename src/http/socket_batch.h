#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace redrive::http {

// Bytes moved, none at the end of what comes, or a negative errno. They do not wait.
ssize_t receive_now(int socket, std::span<char> into);
ssize_t send_now(int socket, std::string_view bytes);

// Receives and sends, as above, on several sockets: all of them in one system call where the kernel
// has rings for that (io_uring), otherwise one by one. Entering the kernel costs about a third of
// what it does there to receive a request, and a tenth of what it does to send an answer.
//
// Nothing is ever left under way: when run() returns, each call has its result, and the memory is
// the caller's again. For one thread.
class SocketBatch {
 public:
  static constexpr std::size_t kCallsMax = 64;
  enum class Way { together, one_by_one };

  // `together` where that is possible.
  explicit SocketBatch(Way way = Way::together);
  ~SocketBatch();

  Way way() const { return ring_ ? Way::together : Way::one_by_one; }
  bool empty() const { return calls_.empty(); }
  bool is_full() const { return calls_.size() == kCallsMax; }
  void receive(int socket, std::span<char> into);
  void send(int socket, std::string_view bytes);

  // The result of each, in the order of asking. Good until the next run.
  std::span<const ssize_t> run();

 private:
  class Ring;
  struct Call {
    enum class Kind : bool { receive, send };
    Kind kind;
    int socket;
    char* data;
    std::size_t size;
  };

  std::unique_ptr<Ring> ring_;  // None: one by one.
  std::vector<Call> calls_;
  std::vector<ssize_t> results_;
};

}  // namespace redrive::http
