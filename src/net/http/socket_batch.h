#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace redrive::http {

// Non-blocking. Return the number of bytes moved (0: EOF) or a negative errno.
ssize_t receive_now(int socket, std::span<char> into);
ssize_t send_now(int socket, std::string_view bytes);

// Batches non-blocking receives and sends on several sockets into one system call with io_uring, or
// makes them one by one where the kernel lacks it. Entering the kernel costs about a third as much
// as receiving a request there, and a tenth as much as sending a response.
//
// No call is left in flight: when run() returns, each call has its result, and its memory belongs
// to the caller again. For one thread.
class SocketBatch {
 public:
  static constexpr std::size_t kCallsMax = 64;
  enum class Way { together, one_by_one };

  // `together` falls back to `one_by_one` if io_uring is not available.
  explicit SocketBatch(Way way = Way::together);
  ~SocketBatch();

  Way way() const { return ring_ ? Way::together : Way::one_by_one; }
  bool empty() const { return calls_.empty(); }
  bool is_full() const { return calls_.size() == kCallsMax; }
  void receive(int socket, std::span<char> into);
  void send(int socket, std::string_view bytes);

  // The result of each call, in the order they were added. Valid until the next run.
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

  std::unique_ptr<Ring> ring_;  // Null: one by one.
  std::vector<Call> calls_;
  std::vector<ssize_t> results_;
};

}  // namespace redrive::http
